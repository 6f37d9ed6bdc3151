// Writes PDF files for tests: pages of lines, with links where a test wants them.

const escaped = (s) => s.replace(/[\\()]/g, "\\$&");

/** Returns a PDF with these pages, each a list of lines, or a picture {bytes, width, height} of a JPEG. links: [{page, url}], each at the top of its page; script is JavaScript that runs when the file is opened. */
export function pdfFile(pages, { title, links = [], script } = {}) {
  const objects = ["", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"];
  const add = (o) => objects.push(o);
  const picture = ({ bytes, width, height }) => {
    const image = add(`<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${bytes.length} >>\nstream\n${bytes.toString("latin1")}\nendstream`);
    const content = add("<< /Length 25 >>\nstream\nq 595 0 0 842 0 0 cm /X Do\nendstream");
    return `${add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${content} 0 R /Resources << /XObject << /X ${image} 0 R >> >> >>`)} 0 R`;
  };
  const kids = pages.map((lines, i) => {
    if (lines.bytes) return picture(lines);
    const content = `BT /F1 12 Tf 18 TL 60 780 Td ${lines.map((l) => `(${escaped(l)}) Tj T*`).join(" ")} ET`;
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    const notes = links
      .filter((l) => l.page === i + 1)
      .map(({ url }, n) => `${add(`<< /Type /Annot /Subtype /Link /Border [0 0 0] /Rect [60 ${790 + 12 * n} 300 ${800 + 12 * n}] /A << /S /URI /URI (${escaped(url)}) >> >>`)} 0 R`);
    return `${add(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${stream} 0 R /Annots [${notes.join(" ")}] /Resources << /Font << /F1 3 0 R >> >> >>`)} 0 R`;
  });
  const info = title ? `/Info ${add(`<< /Title (${escaped(title)}) >>`)} 0 R` : "";
  const action = script ? `/OpenAction << /S /JavaScript /JS (${escaped(script)}) >>` : "";
  objects[0] = `<< /Type /Catalog /Pages 2 0 R ${action} >>`;
  objects[1] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`;
  let out = "%PDF-1.5\n";
  let table = "0000000000 65535 f \n";
  objects.forEach((o, i) => {
    table += `${String(out.length).padStart(10, "0")} 00000 n \n`;
    out += `${i + 1} 0 obj\n${o}\nendobj\n`;
  });
  return Buffer.from(`${out}xref\n0 ${objects.length + 1}\n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${info} >>\nstartxref\n${out.length}\n%%EOF\n`, "latin1");
}
