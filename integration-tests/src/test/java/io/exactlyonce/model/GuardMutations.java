package io.exactlyonce.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * The result of PIT's changes to the guards' methods. Each method must have been changed, and each change must have
 * failed a test or be listed as a survivor.
 */
public final class GuardMutations {

    private static final Pattern LAMBDA = Pattern.compile("lambda\\$(\\w+)\\$\\d+");

    /** PIT's words for a change that a test has found. Other results, such as a crashed run, prove nothing. */
    private static final Set<String> FOUND = Set.of("KILLED", "TIMED_OUT", "MEMORY_ERROR");

    /**
     * A change to a method.
     *
     * @param method the method, as {@code class#method}
     * @param what the change
     * @param status the result, in PIT's words
     */
    private record Change(String method, String what, String status) {

        /** Returns this change as the list of survivors shows it. */
        String row() {
            return "| `%s` | %s |".formatted(method.substring(method.lastIndexOf('.') + 1), what);
        }

        boolean isFound() {
            return FOUND.contains(status);
        }
    }

    private final List<Change> changes = new ArrayList<>();

    /** @param reports PIT's reports, as XML */
    GuardMutations(Path... reports) throws IOException {
        for (Path report : reports) {
            add(report);
        }
    }

    private void add(Path report) throws IOException {
        NodeList found = parse(report).getElementsByTagName("mutation");
        for (int i = 0; i < found.getLength(); i++) {
            Element change = (Element) found.item(i);
            String method = LAMBDA.matcher(text(change, "mutatedMethod")).replaceAll("$1");
            changes.add(new Change(
                    text(change, "mutatedClass") + "#" + method,
                    text(change, "description"),
                    change.getAttribute("status")));
        }
    }

    private static Element parse(Path report) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(report.toFile())
                    .getDocumentElement();
        } catch (ParserConfigurationException | SAXException failure) {
            throw new IOException("%s cannot be read".formatted(report), failure);
        }
    }

    private static String text(Element change, String tag) {
        return change.getElementsByTagName(tag).item(0).getTextContent();
    }

    /** Returns the guards whose check is in Java, which are those without a {@link SqlCheck}. */
    static Collection<Guard> ofJava() {
        Set<Guard> sql = Arrays.stream(SqlCheck.values())
                .flatMap(check -> check.guard().stream())
                .collect(Collectors.toSet());
        return Arrays.stream(Guard.values())
                .filter(guard -> !sql.contains(guard))
                .toList();
    }

    /**
     * Returns the problems: methods without a change that a test found, and survivors that the document does not list.
     *
     * @param document the document, with a row for each known survivor
     */
    Collection<String> complaints(String document) {
        Set<String> complaints = new TreeSet<>();
        for (Guard guard : ofJava()) {
            List<Change> ofGuard = changes.stream()
                    .filter(change -> change.method().equals(guard.enforcer()))
                    .toList();
            if (ofGuard.stream().noneMatch(Change::isFound)) {
                complaints.add("%s: no change of %s failed a test".formatted(guard, guard.shortEnforcer()));
            }
            ofGuard.stream()
                    .filter(change -> !change.isFound() && !document.contains(change.row()))
                    .map(change -> "%s: not listed: %s %s".formatted(guard, change.row(), change.status()))
                    .forEach(complaints::add);
        }
        return complaints;
    }

    /** Checks PIT's reports. The last argument is the document that lists survivors. */
    public static void main(String[] files) throws IOException {
        int last = files.length - 1;
        Path[] reports = Arrays.stream(files, 0, last).map(Path::of).toArray(Path[]::new);
        Collection<String> complaints = new GuardMutations(reports).complaints(Files.readString(Path.of(files[last])));
        if (!complaints.isEmpty()) {
            throw new IllegalStateException(
                    "Guards that a test does not notice the loss of:\n" + String.join("\n", complaints));
        }
    }
}
