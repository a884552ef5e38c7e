// A browser for the tests: the machine's Chromium without a GPU, watched for requests and errors.

import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ARTIFACTS = fileURLToPath(new URL("./artifacts/", import.meta.url));
mkdirSync(ARTIFACTS, { recursive: true });

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** Opens a file; `noise` collects requests beyond it, errors and warnings, which no test allows. */
export async function open(browser, path, options = {}, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
  const page = await context.newPage();
  const noise = [];
  const url = `file://${path}`;
  page.on("request", (request) => request.url().split("#")[0] !== url && !request.url().startsWith("blob:") && noise.push(`request: ${request.url()}`));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  await page.goto(url + hash);
  await page.waitForFunction(() => window.longhaul || window.report || document.querySelector(".failed"));
  return { page, noise, close: () => context.close() };
}
