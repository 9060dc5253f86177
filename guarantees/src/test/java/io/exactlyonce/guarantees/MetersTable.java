package io.exactlyonce.guarantees;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The meters of a scrape, as a table of Markdown. */
record MetersTable(Map<String, Row> rows) {

    private static final String OURS = "exactly_once_";

    private static final Pattern HELP = Pattern.compile("# HELP (\\S+) (.*)");
    private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");

    record Row(String type, Set<String> labels, String help) {

        private String line(String name) {
            String shown = labels.stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
            return "| `%s` | %s | %s | %s |\n".formatted(name, type, shown, help);
        }
    }

    static MetersTable of(String scrape) {
        Map<String, String> helps = new LinkedHashMap<>();
        Map<String, Row> rows = new TreeMap<>();
        for (String line : scrape.lines().filter(any -> any.contains(OURS)).toList()) {
            Matcher help = HELP.matcher(line);
            Matcher type = TYPE.matcher(line);
            if (help.matches()) {
                helps.put(help.group(1), help.group(2));
            } else if (type.matches()) {
                rows.put(type.group(1), new Row(type.group(2), new TreeSet<>(), helps.get(type.group(1))));
            } else {
                addLabels(rows, line);
            }
        }
        rows.keySet().removeIf(name -> name.endsWith("_max") && rows.containsKey(name.substring(0, name.length() - 4)));
        return new MetersTable(rows);
    }

    private static void addLabels(Map<String, Row> rows, String sample) {
        String name = sample.split("[{ ]", 2)[0];
        Row row = rows.containsKey(name) ? rows.get(name) : rows.get(name.replaceFirst("_(bucket|count|sum|max)$", ""));
        Matcher label = LABEL.matcher(sample);
        while (label.find()) {
            if (!label.group(1).equals("le")) {
                row.labels().add(label.group(1));
            }
        }
    }

    String markdown() {
        StringBuilder table = new StringBuilder("| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n");
        rows.forEach((name, row) -> table.append(row.line(name)));
        return table.toString();
    }
}
