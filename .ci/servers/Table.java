import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Prints the table of docs/contributing/sqs-test-classes.md from the reports of a build and of .ci/servers/run. Ends in
 * 1 and names each missing report of a class that uses SQS, and each failed test.
 */
class Table {

    private static final Path TESTS = Path.of("integration-tests/src/test/java");
    private static final Path TARGET = Path.of("integration-tests/target");
    private static final Map<String, Path> REPORTS = new TreeMap<>(Map.of(
            "ElasticMQ", TARGET.resolve("failsafe-reports"),
            "LocalStack", TARGET.resolve("sqs-servers/localstack"),
            "moto", TARGET.resolve("sqs-servers/moto")));

    private final List<String> complaints = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        new Table().print();
    }

    private void print() throws Exception {
        System.out.println("| Test class | " + String.join(" | ", REPORTS.keySet()) + " |");
        System.out.println("|---|" + "---|".repeat(REPORTS.size()));
        for (String test : classes()) {
            StringBuilder row = new StringBuilder("| `" + test.substring(test.lastIndexOf('.') + 1) + "` |");
            for (String server : REPORTS.keySet()) {
                row.append(' ').append(cell(server, test)).append(" |");
            }
            System.out.println(row);
        }
        complaints.forEach(System.err::println);
        System.exit(complaints.isEmpty() ? 0 : 1);
    }

    private static List<String> classes() throws IOException {
        try (Stream<Path> files = Files.walk(TESTS)) {
            return files.filter(file -> file.toString().endsWith("IT.java"))
                    .filter(file -> read(file).contains("\n@UsesSqs\n"))
                    .map(file -> TESTS.relativize(file).toString().replace(".java", "").replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new IllegalStateException(file + " cannot be read", unreadable);
        }
    }

    /** Returns how many tests passed, and which ones did not, each with the reason that its report has. */
    private String cell(String server, String test) throws Exception {
        Path report = REPORTS.get(server).resolve("TEST-" + test + ".xml");
        if (!Files.exists(report)) {
            complaints.add(test + " has no report of " + server + ": " + report + " is missing");
            return "not run";
        }
        NodeList cases = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(report.toFile())
                .getElementsByTagName("testcase");
        int passed = 0;
        StringBuilder others = new StringBuilder();
        for (int i = 0; i < cases.getLength(); i++) {
            Element each = (Element) cases.item(i);
            Node skipped = each.getElementsByTagName("skipped").item(0);
            if (skipped != null) {
                others.append(others.isEmpty() ? "" : "; ").append(skipped(each, (Element) skipped));
            } else if (each.getElementsByTagName("failure").getLength() > 0
                    || each.getElementsByTagName("error").getLength() > 0) {
                complaints.add(test + "#" + each.getAttribute("name") + " failed on " + server);
                others.append(others.isEmpty() ? "" : "; ").append("**failed**: ").append(name(each));
            } else {
                passed++;
            }
        }
        return others.isEmpty() ? passed + " passed" : passed + " passed; " + others;
    }

    private static String skipped(Element test, Element skipped) {
        return "skipped: " + name(test) + ": "
                + skipped.getAttribute("message").replaceFirst("^[A-Z]+ deviates from AWS: ", "");
    }

    private static String name(Element test) {
        return "`" + test.getAttribute("name").replaceFirst("[({].*", "") + "`";
    }
}
