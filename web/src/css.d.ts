// Style sheets are imported for their side effect; the build collects them.
declare module "*.css";
