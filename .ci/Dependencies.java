import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Compares what an application gets with each published module, transitively, with the list of what was looked at and accepted: {@code
 * .ci/dependencies.txt}, a line for each artifact with its version and licence. Reads the bills of materials that a build with {@code
 * -Prelease} has left, below the given directory. Ends in 1 if they differ, and names what came and what went; {@code --accept} writes
 * the list instead.
 */
class Dependencies {

    private static final List<String> MODULES = List.of("autoconfigure", "core", "dynamodb", "observability", "postgres", "servers", "starter", "test");
    private static final Path ACCEPTED = Path.of(".ci", "dependencies.txt");
    private static final String OURS = "io.exactlyonce";
    private static final String HOW = """
            Look at what came: who publishes it, under which licence, what is known of the version. Then accept it:
              ./mvnw -q -Prelease -Dmaven.test.skip=true -pl starter,test,dynamodb,servers -am package
              java .ci/Dependencies.java --accept
            """;

    private final DocumentBuilder parser;

    private Dependencies(DocumentBuilder parser) {
        this.parser = parser;
    }

    public static void main(String[] arguments) throws IOException, ParserConfigurationException, SAXException {
        boolean isAccepted = List.of(arguments).contains("--accept");
        Path root = Path.of(Stream.of(arguments).filter(argument -> !argument.startsWith("--")).findFirst().orElse("."));
        DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
        parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        SortedSet<String> found = new Dependencies(parsers.newDocumentBuilder()).of(root);
        if (isAccepted) {
            Files.write(ACCEPTED, found);
        }
        System.exit(compare(found, new TreeSet<>(Files.readAllLines(ACCEPTED))) ? 0 : 1);
    }

    /** Returns whether they are the same. */
    private static boolean compare(SortedSet<String> found, SortedSet<String> accepted) {
        accepted.stream().filter(line -> !found.contains(line)).forEach(line -> System.out.println("- " + line));
        found.stream().filter(line -> !accepted.contains(line)).forEach(line -> System.out.println("+ " + line));
        boolean isSame = found.equals(accepted);
        System.out.print(isSame ? "" : HOW);
        System.out.printf("dependencies: %d, %s%n", found.size(), isSame ? "as accepted" : "not as accepted");
        return isSame;
    }

    private SortedSet<String> of(Path root) throws IOException, SAXException {
        SortedSet<String> all = new TreeSet<>();
        for (String module : MODULES) {
            Path bill = root.resolve(module).resolve("target").resolve("bom.xml");
            if (!Files.exists(bill)) {
                throw new IOException("There is no " + bill + ": build with -Prelease first");
            }
            Element components = child(parser.parse(bill.toFile()).getDocumentElement(), "components");
            children(components, "component")
                    .filter(component -> !OURS.equals(text(component, "group")))
                    // What is optional for a module is not handed on by it.
                    .filter(component -> !"optional".equals(text(component, "scope")))
                    .map(component -> "%s | %s:%s:%s | %s"
                            .formatted(
                                    module,
                                    text(component, "group"),
                                    text(component, "name"),
                                    text(component, "version"),
                                    licences(component)))
                    .forEach(all::add);
        }
        return all;
    }

    private static String licences(Element component) {
        return children(component, "licenses")
                .flatMap(licences -> children(licences, "*"))
                .map(licence -> licence.getTagName().equals("license")
                        ? (text(licence, "id") + text(licence, "name"))
                        : licence.getTextContent().strip())
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static String text(Element parent, String name) {
        return children(parent, name).map(child -> child.getTextContent().strip()).collect(Collectors.joining());
    }

    private static Element child(Element parent, String name) throws IOException {
        return children(parent, name).findFirst().orElseThrow(() -> new IOException("A bill has no " + name));
    }

    private static Stream<Element> children(Element parent, String name) {
        NodeList nodes = parent.getChildNodes();
        return IntStream.range(0, nodes.getLength())
                .mapToObj(nodes::item)
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .filter(element -> name.equals("*") || element.getTagName().equals(name));
    }
}
