import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
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
 * .ci/dependencies.txt}, a line for each artifact with its version and licence. Reads the bills of materials (SBOM) that {@code package}
 * has left, below the given directory. Each module that {@code bom/pom.xml} names must have one, in XML and in JSON, of that module and
 * version. Ends in 1 if they differ, and names what came and what went; {@code --accept} writes the list instead.
 */
class Dependencies {

    private static final Path ACCEPTED = Path.of(".ci", "dependencies.txt");
    private static final String OURS = "io.exactlyonce";
    private static final String HOW = """
            Look at what came: who publishes it, under which licence, what is known of the version. Then accept it:
              ./mvnw -q -Dmaven.test.skip=true -pl starter,test,dynamodb,servers -am package
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
        Map<String, String> modules = published(root);
        for (String module : modules.keySet()) {
            Element bill = bill(root.resolve(module).resolve("target"), modules.get(module));
            children(child(bill, "components"), "component")
                    .filter(component -> !OURS.equals(text(component, "group")))
                    // Users of a module do not get its optional dependencies.
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

    /** Returns the artifacts that the bill of versions ({@code bom/pom.xml}) names, each by the directory of its module. */
    private SortedMap<String, String> published(Path root) throws IOException, SAXException {
        Element bom = pom(root.resolve("bom"));
        List<String> named = children(child(child(bom, "dependencyManagement"), "dependencies"), "dependency")
                .map(dependency -> text(dependency, "artifactId"))
                .toList();
        SortedMap<String, String> modules = new TreeMap<>();
        for (Element module : children(child(pom(root), "modules"), "module").toList()) {
            String directory = module.getTextContent().strip();
            String artifact = text(pom(root.resolve(directory)), "artifactId");
            if (named.contains(artifact)) {
                modules.put(directory, artifact);
            }
        }
        if (modules.size() != named.size() || modules.isEmpty()) {
            throw new IOException("bom/pom.xml names %s, of which these are modules: %s".formatted(named, modules.values()));
        }
        return modules;
    }

    private Element pom(Path module) throws IOException, SAXException {
        return parser.parse(module.resolve("pom.xml").toFile()).getDocumentElement();
    }

    /** Returns the bill in XML, if it is of this artifact and the one in JSON names the same components. */
    private Element bill(Path target, String artifact) throws IOException, SAXException {
        Path xml = target.resolve("bom.xml");
        Path json = target.resolve("bom.json");
        for (Path file : List.of(xml, json)) {
            if (!Files.exists(file)) {
                throw new IOException("There is no %s: run ./mvnw -Dmaven.test.skip=true package, without -o".formatted(file));
            }
        }
        Element bill = parser.parse(xml.toFile()).getDocumentElement();
        Element subject = child(child(bill, "metadata"), "component");
        if (!artifact.equals(text(subject, "name")) || !OURS.equals(text(subject, "group"))) {
            throw new IOException("%s is of %s, and not of %s".formatted(xml, text(subject, "name"), artifact));
        }
        String other = Files.readString(json);
        List<String> missing = Stream.concat(Stream.of(subject), children(child(bill, "components"), "component"))
                .map(component -> text(component, "purl"))
                .filter(purl -> !other.contains('"' + purl + '"'))
                .toList();
        if (!missing.isEmpty()) {
            throw new IOException("%s lacks %s, which %s has".formatted(json, missing, xml));
        }
        return bill;
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
