// Draws diagrams for the page (src/thread/diagram.ts), in a frame with an origin and a policy of
// its own, because Mermaid writes styles that the page's policy forbids. The page sends the text
// and a port for the answer: the diagram as SVG and its size, or {} if it cannot be drawn.
const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
let drawn = 0;

async function draw({ code, dark }) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false, // an SVG that is shown as a picture has no HTML in some browsers
    maxTextSize: 20_000,
    maxEdges: 300,
    fontFamily: FONT,
    theme: dark ? "dark" : "neutral",
  });
  const { svg } = await mermaid.render(`diagram-${++drawn}`, code);
  const root = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  const { width, height } = root.viewBox.baseVal;
  root.setAttribute("width", width);
  root.setAttribute("height", height);
  return { svg: new XMLSerializer().serializeToString(root), width, height };
}

addEventListener("message", async ({ source, data, ports: [answer] }) => {
  if (source !== parent) return;
  answer.postMessage(await draw(data).catch(() => ({})));
});
