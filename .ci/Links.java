import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks that every relative link of every Markdown file leads to a file that is there, and to a heading of it. Links to other
 * sites are left alone. Ends in 1 and names what is broken, each with its file and line.
 */
class Links {

    private static final Pattern LINK = Pattern.compile("(?<!\\\\)\\[(?:[^\\[\\]]|\\[[^\\]]*\\])*\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*?)#*\\s*$");

    private final Map<Path, Set<String>> anchors = new HashMap<>();
    private final List<String> broken = new ArrayList<>();
    private int links;

    public static void main(String[] arguments) throws IOException {
        new Links().check(Path.of(arguments.length == 0 ? "." : arguments[0]).normalize());
    }

    private void check(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Links::isOurs).sorted().toList()) {
                check(root, file);
            }
        }
        broken.forEach(System.out::println);
        System.out.printf("links: %d checked, %d broken%n", links, broken.size());
        System.exit(broken.isEmpty() && links > 0 ? 0 : 1);
    }

    private static boolean isOurs(Path file) {
        return file.toString().endsWith(".md")
                && Stream.of("target", ".git", "node_modules").noneMatch(skipped -> contains(file, skipped));
    }

    private static boolean contains(Path file, String directory) {
        for (Path part : file) {
            if (part.toString().equals(directory)) {
                return true;
            }
        }
        return false;
    }

    private void check(Path root, Path file) throws IOException {
        boolean code = false;
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            if (line.strip().startsWith("```")) {
                code = !code;
            }
            Matcher link = LINK.matcher(code ? "" : line.replaceAll("`[^`]*`", "`"));
            while (link.find()) {
                String target = link.group(1);
                if (target.matches("[a-z]+:.*")) {
                    continue;
                }
                links++;
                if (!leadsSomewhere(file, target)) {
                    broken.add("%s:%d: %s".formatted(root.relativize(file), number, target));
                }
            }
        }
    }

    private boolean leadsSomewhere(Path file, String target) throws IOException {
        int hash = target.indexOf('#');
        String path = hash < 0 ? target : target.substring(0, hash);
        Path there = path.isEmpty() ? file : file.resolveSibling(path).normalize();
        if (!Files.exists(there)) {
            return false;
        }
        return hash < 0 || !there.toString().endsWith(".md") || anchorsOf(there).contains(target.substring(hash + 1));
    }

    private Set<String> anchorsOf(Path file) throws IOException {
        if (!anchors.containsKey(file)) {
            Set<String> found = new HashSet<>();
            boolean code = false;
            for (String line : Files.readAllLines(file)) {
                if (line.strip().startsWith("```")) {
                    code = !code;
                }
                Matcher heading = HEADING.matcher(line);
                if (!code && heading.matches()) {
                    String anchor = anchor(heading.group(1));
                    for (int repeated = 1; !found.add(anchor); repeated++) {
                        anchor = anchor(heading.group(1)) + "-" + repeated;
                    }
                }
            }
            anchors.put(file, found);
        }
        return anchors.get(file);
    }

    /** Returns the anchor of a heading as GitHub makes it. */
    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                .toLowerCase()
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }
}
