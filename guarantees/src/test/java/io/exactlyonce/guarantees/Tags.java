package io.exactlyonce.guarantees;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** The tags of test classes, by simple names in the sources. A test that did not run has no report. */
final class Tags {

    private static final Pattern TAGGED_CLASS = Pattern.compile("@Tag\\(\"(\\w+)\"\\)[^{;]*?\\bclass\\s+(\\w+)");

    private final Map<String, Set<String>> byType = new HashMap<>();

    /** @param sources the texts of the sources */
    Tags(List<String> sources) {
        for (String source : sources) {
            TAGGED_CLASS
                    .matcher(source)
                    .results()
                    .forEach(found -> byType.computeIfAbsent(found.group(2), none -> new HashSet<>())
                            .add(found.group(1)));
        }
    }

    Set<String> of(String type) {
        return byType.getOrDefault(type, Set.of());
    }
}
