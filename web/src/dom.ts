// Builds DOM elements in one expression.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false) node.setAttribute(name, value);
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

/** A small block of colour in front of a word. */
export function swatch(colour: string, shape = "line"): HTMLElement {
  const node = el("i", { class: `swatch ${shape}`, "aria-hidden": "true" });
  node.style.setProperty("--ink", colour);
  return node;
}
