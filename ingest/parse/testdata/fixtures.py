"""Make the files that the parsers are tested with: fixtures.py FOLDER."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import msoffcrypto
import openpyxl
from docx import Document
from msoffcrypto.format.ooxml import OOXMLFile
from PIL import Image
from pptx import Presentation
from pptx.util import Inches
from pypdf import PdfReader, PdfWriter

PRICES = {
    "en": [["name", "price", "in stock"], ["Garden hose", 24.5, "yes"], ["Watering can", 12, "no"]],
    "zh": [["名称", "价格", "有货"], ["花园水管", 24.5, "是"], ["洒水壶", 12, "否"]],
}
TEXTS = {
    "en": {
        "title": "Garden guide",
        "heading": "Watering",
        "paragraph": "Water the beds early in the morning, before the sun is high.",
        "items": ["Check the soil with a finger.", "Water the roots and not the leaves."],
        "second": "Tools",
        "last": "Clean the tools after use.",
    },
    "zh": {
        "title": "园艺指南",
        "heading": "浇水",
        "paragraph": "请在清晨太阳升高之前给花坛浇水。",
        "items": ["先用手指检查土壤。", "浇根部，不要浇叶子。"],
        "second": "工具",
        "last": "使用之后请清洁工具。",
    },
}
ENCODED = {
    "gb18030": "花园的门每天早上八点打开，晚上六点关闭。请在入口处购买门票，儿童免费。周一休息，节假日照常开放。",
    "big5": "花園的門每天早上八點打開，晚上六點關閉。請在入口處購買門票，兒童免費。週一休息，節假日照常開放。",
    "shift_jis": "庭園は毎朝八時に開き、夕方六時に閉まります。入口で入場券をお求めください。子供は無料です。",
    "euc_kr": "정원은 매일 아침 여덟 시에 열고 저녁 여섯 시에 닫습니다. 입구에서 표를 사십시오. 어린이는 무료입니다.",
    "utf_16": "The garden opens at eight. 花园八点开门。",
    "utf_16_be": "\ufeffThe garden opens at eight. 花园八点开门。",
}


def docx(language: str) -> Document:
    texts = TEXTS[language]
    document = Document()
    document.add_heading(texts["title"], 0)
    document.add_heading(texts["heading"], 1)
    document.add_paragraph(texts["paragraph"])
    for item in texts["items"]:
        document.add_paragraph(item, style="List Bullet")
    document.add_heading(texts["second"], 2)
    table = document.add_table(0, 3)
    for row in PRICES[language]:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = str(value)
    document.add_paragraph(texts["last"])
    return document


def pptx(language: str, layouts: tuple[int, int, int] = (0, 1, 5)) -> Presentation:
    texts = TEXTS[language]
    slides = Presentation()
    first, second, third = (slides.slides.add_slide(slides.slide_layouts[layout]) for layout in layouts)
    first.shapes.title.text = texts["title"]
    second.shapes.title.text = texts["heading"]
    second.placeholders[1].text = "\n".join([texts["paragraph"], *texts["items"]])
    third.shapes.title.text = texts["second"]
    rows = PRICES[language]
    table = third.shapes.add_table(len(rows), 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            table.cell(y, x).text = str(value)
    return slides


def xlsx(language: str) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = TEXTS[language]["second"]
    for row in PRICES[language]:
        sheet.append(row)
    hidden = book.create_sheet("hidden")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    return book


def pdf(language: str) -> bytes:
    texts = TEXTS[language]
    items = "".join(f"<li>{item}" for item in texts["items"])
    rows = "".join("<tr>" + "".join(f"<td>{value}" for value in row) for row in PRICES[language])
    body = (
        f"<h1>{texts['title']}</h1><h2>{texts['heading']}</h2>"
        f"<p>{' '.join([texts['paragraph']] * 3)}</p><ul>{items}</ul>"
        f"<h2 style='break-before:page'>{texts['second']}</h2><table>{rows}</table><p>{texts['last']}</p>"
    )
    with tempfile.TemporaryDirectory() as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        style = '* { font-family: "AR PL SungtiL GB"; font-weight: 400 }'  # one font, for it is embedded
        page.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style><body>{body}", encoding="utf-8")
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or "google-chrome"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-pdf-tagging"]
        options += [f"--print-to-pdf={printed}"]
        subprocess.run([browser, *options, str(page)], check=True, capture_output=True)
        return printed.read_bytes()


def by_office(source: Path, target: Path) -> None:
    """Have LibreOffice write a file as one of its own."""
    with tempfile.TemporaryDirectory() as work:
        command = ["soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", "--convert-to"]
        subprocess.run([*command, target.suffix[1:], "--outdir", work, str(source)], check=True, capture_output=True)
        shutil.copy(Path(work) / f"{source.stem}{target.suffix}", target)


def main(folder: Path) -> None:
    for language in TEXTS:
        docx(language).save(folder / f"guide-{language}.docx")
        pptx(language).save(folder / f"slides-{language}.pptx")
        xlsx(language).save(folder / f"prices-{language}.xlsx")
        (folder / f"guide-{language}.pdf").write_bytes(pdf(language))
        lines = "".join(",".join(map(str, row)) + "\r\n" for row in PRICES[language])
        (folder / f"prices-{language}.csv").write_bytes(lines.encode("utf-8-sig"))
        by_office(folder / f"guide-{language}.docx", folder / f"writer-{language}.docx")
        by_office(folder / f"guide-{language}.docx", folder / f"writer-{language}.pdf")
        with tempfile.TemporaryDirectory() as work:
            plain_slides = Path(work) / "slides.pptx"  # LibreOffice writes a master for each layout
            pptx(language, (1, 1, 1)).save(plain_slides)
            by_office(plain_slides, folder / f"impress-{language}.pptx")
        by_office(folder / f"prices-{language}.xlsx", folder / f"calc-{language}.xlsx")
    for encoding, text in ENCODED.items():
        (folder / f"{encoding}.txt").write_bytes(text.encode(encoding))
    plain = io.BytesIO()
    docx("en").save(plain)
    with (folder / "encrypted.docx").open("wb") as encrypted:
        OOXMLFile(plain).encrypt("password", encrypted)
    locked = PdfWriter(clone_from=PdfReader(folder / "guide-en.pdf"))
    locked.encrypt("password", algorithm="AES-256")
    locked.write(folder / "encrypted.pdf")
    Image.new("L", (200, 300), 255).save(folder / "scanned.pdf")
    (folder / "damaged.pdf").write_bytes((folder / "guide-en.pdf").read_bytes()[:3000])
    (folder / "damaged.docx").write_bytes(plain.getvalue()[:-2000])
    Document().save(folder / "empty.docx")
    with zipfile.ZipFile(folder / "archive.docx", "w") as archive:
        archive.writestr("readme.txt", "A zip, and no document.")
    assert msoffcrypto.__name__


main(Path(sys.argv[1]))
