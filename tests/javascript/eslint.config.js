// What the page's modules may contain. tests/test_page_modules.py checks what is read by line.
import js from "@eslint/js";

const MARKUP = "Text of a profile must stay text: use textContent or h() of dom.js.";
const CODE = "Text is never run as code.";

/** Properties and calls that would parse text as markup or as code. */
const FORBIDDEN = [
  ...["innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment", "setHTMLUnsafe",
    "parseHTMLUnsafe", "parseFromString", "srcdoc"]
    .flatMap((name) => [`MemberExpression[property.name='${name}']`,
      `MemberExpression[property.value='${name}']`])
    .map((selector) => ({ selector, message: MARKUP })),
  ...["write", "writeln"].map((name) => ({
    selector: `MemberExpression[object.name='document'][property.name='${name}']`, message: MARKUP,
  })),
  ...["eval", "Function"].flatMap((name) => [
    { selector: `CallExpression[callee.name='${name}']`, message: CODE },
    { selector: `CallExpression[callee.property.name='${name}']`, message: CODE },
    { selector: `NewExpression[callee.name='${name}']`, message: CODE },
  ]),
  ...["setTimeout", "setInterval"].map((name) => ({
    selector: `CallExpression[callee.name='${name}'][arguments.0.type=/Literal/]`, message: CODE,
  })),
  { selector: "ImportExpression", message: "The file holds all modules: import at the top." },
  { selector: "ExportDefaultDeclaration", message: "Exports have names." },
  { selector: "ExportAllDeclaration", message: "Modules export what they define." },
  { selector: "ExportNamedDeclaration[specifiers.length>0]", message: "Export at the definition." },
  { selector: "ImportDefaultSpecifier", message: "Exports have names." },
  { selector: "ImportNamespaceSpecifier", message: "Import by name." },
  { selector: "MetaProperty[meta.name='import']", message: "A module does not know its address." },
  { selector: "Program > ExpressionStatement > AwaitExpression", message: "No top-level await." },
];

const BROWSER = [
  "AbortController", "Blob", "BigInt64Array", "CustomEvent", "DOMException", "DecompressionStream",
  "Element", "Event", "HTMLElement", "HTMLInputElement", "HTMLSelectElement", "IntersectionObserver", "MutationObserver", "Node", "Path2D",
  "ResizeObserver", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "atob",
  "addEventListener", "btoa", "cancelAnimationFrame", "clearTimeout", "console", "devicePixelRatio", "document", "fetch",
  "getComputedStyle", "history", "localStorage", "location", "matchMedia", "navigator",
  "performance", "queueMicrotask", "requestAnimationFrame", "setTimeout", "window",
];

export default [
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "module",
      globals: Object.fromEntries(BROWSER.map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-control-regex": "off", // names hold control characters, and regexes find them
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      "max-lines": ["error", 400],
      "no-implied-eval": "error",
    },
  },
  {
    files: ["src/tfprof/page/**"],
    rules: { "no-restricted-syntax": ["error", ...FORBIDDEN] },
  },
  {
    files: ["tests/**"],
    languageOptions: { globals: { process: "readonly", Buffer: "readonly" } },
  },
];
