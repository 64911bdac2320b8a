//! Tables: the same rows for a terminal, as Markdown, and as CSV.

use comfy_table::{CellAlignment, ContentArrangement, presets};

use super::Format;

/// A table of as many columns as its data have, under headings of several lines: the first `words`
/// are words, the others numbers. On a terminal of this many columns, long words are broken.
pub(crate) fn wide(
    (headings, rows): &(Vec<String>, Vec<Vec<String>>),
    words: usize,
    (format, width): (Format, u16),
) -> String {
    let markdown = format == Format::Md;
    let mut table = comfy_table::Table::new();
    if markdown {
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_content_arrangement(ContentArrangement::Disabled);
    } else {
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    let shown = |text: &String| {
        if markdown { text.replace('|', "\\|").replace('\n', " ") } else { text.clone() }
    };
    table.set_header(headings.iter().map(shown));
    for row in rows {
        table.add_row(row.iter().map(shown));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if markdown { (1, 1) } else { (0, 2) });
        if index >= words {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Rows under named columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    name: &'static str,
    right: bool,
}

impl Table {
    /// A table without rows; names that begin with `#` are aligned to the right.
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        let column = |name: &&'static str| match name.strip_prefix('#') {
            Some(name) => Column { name, right: true },
            None => Column { name, right: false },
        };
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for every column");
        self.rows.push(cells);
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in a format, with a line break at its end.
    pub(crate) fn render(&self, format: Format) -> String {
        match format {
            Format::Csv => self.csv(),
            Format::Md => self.laid_out(true),
            Format::Table | Format::Json => self.laid_out(false),
        }
    }

    fn laid_out(&self, markdown: bool) -> String {
        let (style, padding) =
            if markdown { (presets::ASCII_MARKDOWN, (1, 1)) } else { (presets::NOTHING, (0, 2)) };
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
        let heading = |name: &str| if markdown { name.to_owned() } else { name.to_uppercase() };
        table.set_header(self.columns.iter().map(|column| heading(column.name)));
        for row in &self.rows {
            table.add_row(
                row.iter().map(
                    |cell| {
                        if markdown { cell.replace('|', "\\|") } else { cell.clone() }
                    },
                ),
            );
        }
        for (column, known) in table.column_iter_mut().zip(&self.columns) {
            column.set_padding(padding);
            if known.right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let headings = self.columns.iter().map(|column| column.name);
        writer.write_record(headings).expect("memory takes all");
        for row in &self.rows {
            writer.write_record(row).expect("memory takes all");
        }
        String::from_utf8(writer.into_inner().expect("memory takes all")).expect("text is UTF-8")
    }
}
