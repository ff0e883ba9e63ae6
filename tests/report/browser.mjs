// SPDX-License-Identifier: Apache-2.0
// Opens reports in Chromium. Each page fails its test if it writes to the console, throws, or asks for a file or an address.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const ASSETS = path.join(ROOT, "lib/analysis/page/assets");
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

/** @returns {string | undefined} the path of a browser */
export function browserPath() {
  return BROWSERS.map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout.trim()).find((each) => each !== "");
}

/** The joined page without data, in a file. */
export function joinFrame(folder) {
  const code = "import pathlib, sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1]); import join; sys.stdout.write(join.join_page(pathlib.Path(sys.argv[1])))";
  const file = path.join(folder, "frame.html");
  fs.writeFileSync(file, execFileSync("python3", ["-c", code, ASSETS], { encoding: "utf8" }));
  return file;
}

export class Browser {
  /** @param {string} packages a folder with node_modules */
  static async start(packages) {
    const require = createRequire(path.join(path.resolve(packages), "package.json"));
    const loaded = await import(require.resolve("puppeteer-core"));
    const puppeteer = loaded.default ?? loaded;
    const home = fs.mkdtempSync(path.join(os.tmpdir(), "coroscope-chromium-"));
    const browser = await puppeteer.launch({ executablePath: browserPath(), headless: true, userDataDir: home, args: ["--no-sandbox", "--disable-gpu", "--no-first-run"] });
    return new Browser(browser, home, fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  }

  constructor(browser, home, axe) {
    this.browser = browser;
    this.home = home;
    this.axe = axe;
  }

  async stop() {
    await this.browser.close();
    fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 3 });
  }

  /** @param {string} file @param {string} address such as "#timeline" @param {{dark?: boolean, width?: number}} [options] */
  async open(file, address, { dark = false, width = 1400 } = {}) {
    const page = await this.browser.newPage();
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
    const opened = new Opened(page, file, this.axe);
    page.on("console", (message) => opened.complaints.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => opened.complaints.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const url = request.url();
      if (url !== `file://${file}${address}` && url.split("#")[0] !== `file://${file}` && url !== "data:," && !url.startsWith("blob:")) opened.complaints.push(`request: ${url.slice(0, 100)}`);
    });
    await page.goto(`file://${file}${address}`);
    await opened.settled();
    return opened;
  }
}

/** One page of a report. */
export class Opened {
  constructor(page, file, axe) {
    this.page = page;
    this.file = file;
    this.axe = axe;
    this.complaints = [];
  }

  /** Waits until the view is drawn. */
  async settled() {
    await this.page.waitForFunction(() => document.querySelector("#main")?.childElementCount > 0 && !/^(Reading|Adding up)/m.test(document.querySelector("#main .empty")?.textContent ?? ""), { timeout: 60000 });
    await this.frame();
  }

  /** Waits for two frames of the page. */
  frame() {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
  }

  async go(address) {
    await this.page.evaluate((to) => new Promise((done) => {
      const before = location.hash;
      location.hash = to;
      if (location.hash === before) done();
      else addEventListener("hashchange", () => done(), { once: true });
    }), address);
    await this.settled();
  }

  /** @returns {Promise<string>} what the page's button copies */
  copied() {
    return this.page.evaluate(() => new Promise((done) => {
      Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => done(text) } });
      document.querySelector("#copy").click();
    }));
  }

  async key(...keys) {
    for (const key of keys) await this.page.keyboard.press(key);
    await this.frame();
  }

  text(selector) {
    return this.page.evaluate((which) => document.querySelector(which)?.innerText ?? null, selector);
  }

  said() {
    return this.page.evaluate(() => document.querySelector("#announcements").textContent);
  }

  /** @returns the times and the scroll that the timeline shows */
  async shown() {
    await this.frame();
    const [from, to, scroll] = (await this.page.$eval("#canvas", (canvas) => canvas.dataset.shown)).split(" ").map(Number);
    return { from, to, scroll };
  }

  /** @returns {Promise<string[]>} the serious problems that axe finds */
  async problems() {
    // The policy of the page forbids other scripts, so the checker comes through the protocol.
    await this.page.evaluate(this.axe);
    return this.page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      return violations.filter((each) => ["serious", "critical"].includes(each.impact)).map((each) => `${each.id}: ${each.nodes.map((node) => `${node.target.join(" ")} (${node.any[0]?.message ?? ""})`).slice(0, 3).join("; ")}`);
    });
  }

  async close() {
    await this.page.close();
  }
}
