package io.exactlyonce.property;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * The names of properties that something reads. A name that nothing reads is taken for a mistake where it is one almost certainly:
 * within a group of ours, or next to a name that is known. What else an application may have under {@code exactly-once} is its own
 * business.
 */
final class KnownProperties {

    static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("exactly-once");

    /** Most letters that are too many, too few or wrong, in a name of six letters and more. */
    private static final int MOST_SLIPS = 2;

    private static final int LETTERS_PER_SLIP = 3;

    private static final String OURS = "io.exactlyonce.";

    private final Set<ConfigurationPropertyName> groups = new LinkedHashSet<>();
    private final Set<ConfigurationPropertyName> values = new LinkedHashSet<>();

    /** Neither texts, such as a password, nor lists. */
    private final List<ConfigurationPropertyName> neverEmpty = new ArrayList<>();

    /** Elements and entries of these have names of their own. */
    private final List<ConfigurationPropertyName> open = new ArrayList<>();

    private final Set<ConfigurationPropertyName> lists = new LinkedHashSet<>();

    KnownProperties() {
        groups.add(ROOT);
    }

    /** Adds the properties of a record of ours; all that begin like one of an application's own, which Spring binds as it likes. */
    void add(ConfigurationPropertyName prefix, Class<?> type) {
        groups.add(prefix);
        if (!type.isRecord() || !type.getName().startsWith(OURS)) {
            open.add(prefix);
            return;
        }
        for (RecordComponent component : type.getRecordComponents()) {
            ConfigurationPropertyName name = prefix.append(DataObjectPropertyName.toDashedForm(component.getName()));
            if (component.getType().isRecord()) {
                add(name, component.getType());
            } else {
                values.add(name);
                if (Collection.class.isAssignableFrom(component.getType())) {
                    lists.add(name);
                    open.add(name);
                } else if (Map.class.isAssignableFrom(component.getType())) {
                    open.add(name);
                } else if (component.getType() != String.class) {
                    neverEmpty.add(name);
                }
            }
        }
    }

    /** Returns the properties that an empty value is no value of. */
    List<ConfigurationPropertyName> neverEmpty() {
        return neverEmpty;
    }

    /** Returns what there is in a group of ours, which has no value of its own; empty for any other name. */
    Optional<String> members(ConfigurationPropertyName name) {
        return groups.contains(name) && !open.contains(name) && !ROOT.equals(name)
                ? Optional.of("%s has %s".formatted(name, namesIn(name)))
                : Optional.empty();
    }

    /** Returns what a name that nothing reads was meant to be, or what there is in its place; empty if it is no mistake. */
    Optional<String> correction(ConfigurationPropertyName name) {
        if (values.contains(name)
                || groups.contains(name)
                || open.stream().anyMatch(prefix -> isWithin(prefix, name))) {
            return Optional.empty();
        }
        return nearest(letters(name))
                .map(meant -> "did you mean %s?".formatted(meant))
                .or(() -> misplaced(name))
                .or(() -> outOfGroup(name))
                .or(() -> belowValue(name));
    }

    /** What is within a list has a number. */
    private boolean isWithin(ConfigurationPropertyName prefix, ConfigurationPropertyName name) {
        return prefix.isAncestorOf(name)
                && (!lists.contains(prefix) || name.isNumericIndex(prefix.getNumberOfElements()));
    }

    /** Returns the property that a variable of the environment was meant to be; empty if it is no mistake. */
    Optional<ConfigurationPropertyName> variableMeant(String afterPrefix) {
        String letters =
                afterPrefix.replaceAll("(_\\d+)?_?$", "").replace("_", "").toLowerCase(Locale.ROOT);
        boolean known = Stream.concat(values.stream(), groups.stream())
                .anyMatch(name -> letters(name).equals(letters));
        return known ? Optional.empty() : nearest(letters);
    }

    private Optional<ConfigurationPropertyName> nearest(String letters) {
        return values.stream()
                .filter(value ->
                        slips(letters, letters(value)) <= Math.min(MOST_SLIPS, letters.length() / LETTERS_PER_SLIP))
                .min(Comparator.comparingInt(value -> slips(letters, letters(value))));
    }

    /** As {@code exactly-once.retention}, which is {@code exactly-once.claim.retention}. */
    private Optional<String> misplaced(ConfigurationPropertyName name) {
        List<ConfigurationPropertyName> namesakes = namesakes(name);
        return namesakes.size() == 1 ? Optional.of("did you mean %s?".formatted(namesakes.get(0))) : Optional.empty();
    }

    /**
     * Returns the properties that a name without its group may have been meant to be, such as {@code exactly-once.enabled}, which may
     * as well be the application's own; empty if there are not several.
     */
    List<ConfigurationPropertyName> candidates(ConfigurationPropertyName name) {
        List<ConfigurationPropertyName> namesakes = values.contains(name) ? List.of() : namesakes(name);
        return namesakes.size() > 1 ? namesakes : List.of();
    }

    private List<ConfigurationPropertyName> namesakes(ConfigurationPropertyName name) {
        return ROOT.isParentOf(name)
                ? values.stream()
                        .filter(value -> last(value).equals(last(name)))
                        .toList()
                : List.of();
    }

    private Optional<String> outOfGroup(ConfigurationPropertyName name) {
        return groups.stream()
                .filter(group -> !group.equals(ROOT) && group.isAncestorOf(name))
                .max(Comparator.comparingInt(ConfigurationPropertyName::getNumberOfElements))
                .flatMap(this::members);
    }

    private String namesIn(ConfigurationPropertyName group) {
        return Stream.concat(values.stream(), groups.stream())
                .filter(group::isParentOf)
                .map(name -> name.getLastElement(Form.DASHED))
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private Optional<String> belowValue(ConfigurationPropertyName name) {
        return values.stream()
                .filter(value -> value.isAncestorOf(name))
                .findFirst()
                .map(value -> "%s has no properties of its own".formatted(value));
    }

    private static String last(ConfigurationPropertyName name) {
        return name.getLastElement(Form.UNIFORM);
    }

    /** Returns a name's letters after the root, in which all ways to write it agree. */
    private static String letters(ConfigurationPropertyName name) {
        StringBuilder letters = new StringBuilder();
        for (int index = 1; index < name.getNumberOfElements(); index++) {
            letters.append(name.getElement(index, Form.UNIFORM));
        }
        return letters.toString();
    }

    /** Returns how many letters have to be put in, left out or changed: Levenshtein's distance. */
    private static int slips(String written, String meant) {
        int[] before = new int[meant.length() + 1];
        for (int column = 0; column <= meant.length(); column++) {
            before[column] = column;
        }
        for (int row = 1; row <= written.length(); row++) {
            int[] now = new int[meant.length() + 1];
            now[0] = row;
            for (int column = 1; column <= meant.length(); column++) {
                int changed = before[column - 1] + (written.charAt(row - 1) == meant.charAt(column - 1) ? 0 : 1);
                now[column] = Math.min(changed, Math.min(before[column], now[column - 1]) + 1);
            }
            before = now;
        }
        return before[meant.length()];
    }
}
