package io.exactlyonce.guarantees;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Supertypes of classes, by simple names in the sources. Reports name the class that ran, instead of the contract. */
final class Subtypes {

    private static final Pattern DECLARATION =
            Pattern.compile("\\b(?:class|interface|record)\\s+(\\w+)[^{;]*?\\b((?:extends|implements)\\b[^{;]*)\\{");
    private static final Pattern TYPE_ARGUMENTS = Pattern.compile("<[^<>]*>");
    private static final Pattern BETWEEN_NAMES = Pattern.compile("[\\s,]+|\\bextends\\b|\\bimplements\\b");

    private final Map<String, Set<String>> direct = new HashMap<>();

    /** @param sources the texts of the sources */
    Subtypes(List<String> sources) {
        sources.forEach(this::read);
    }

    private void read(String source) {
        DECLARATION.matcher(source).results().forEach(found -> {
            String names = TYPE_ARGUMENTS.matcher(found.group(2)).replaceAll("");
            Arrays.stream(BETWEEN_NAMES.split(names))
                    .filter(name -> !name.isBlank())
                    .map(name -> name.substring(name.lastIndexOf('.') + 1))
                    .forEach(parent -> direct.computeIfAbsent(parent, none -> new HashSet<>())
                            .add(found.group(1)));
        });
    }

    /** Returns a type and all its subtypes. */
    Set<String> of(String type) {
        Set<String> all = new HashSet<>();
        collect(type, all);
        return all;
    }

    private void collect(String type, Set<String> all) {
        if (all.add(type)) {
            direct.getOrDefault(type, Set.of()).forEach(child -> collect(child, all));
        }
    }
}
