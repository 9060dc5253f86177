package io.exactlyonce.guarantees;

import static io.exactlyonce.guarantees.PropertyMetadata.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.GeneratedPage;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Delays;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Listener;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;
import tools.jackson.databind.JsonNode;

/** The reference of properties has the same texts as the metadata for editors. */
class PropertiesPageTests {

    private static final Path PAGE = Path.of("../docs/properties.md");
    private static final Path TEMPLATE = Path.of("src/test/resources/properties-page.txt");

    private static final String ADVANCED = "Advanced: ";
    private static final String PREFIX = "exactly-once.";

    /** The last sentence of a description, which says what happens if the property has no value. */
    private static final Pattern DEFAULT = Pattern.compile(" Default: (.*)\\.$");

    /** A property in handwritten text, without its prefix. */
    private static final Pattern RELATED = Pattern.compile("`((?:claim|datasource|retry|audit)\\.[a-z.-]+[a-z])[=`]");

    private static final PropertyMetadata METADATA = PropertyMetadata.read();

    @Test
    void pageIsThatOfTheMetadata() throws IOException {
        GeneratedPage.matches(
                PAGE,
                Files.readString(TEMPLATE)
                        .replace("{{properties}}", table(false))
                        .replace("{{advanced}}", table(true))
                        .replace("{{listener}}", listener()));
    }

    @Test
    void templateNamesNoPropertyThatIsGone() throws IOException {
        List<String> names = METADATA.properties().stream()
                .map(property -> text(property, "name"))
                .toList();
        List<String> used = RELATED.matcher(Files.readString(TEMPLATE))
                .results()
                .map(name -> PREFIX + name.group(1))
                .toList();

        assertThat(used).hasSizeGreaterThan(5);
        assertThat(names).containsAll(used);
    }

    private static String table(boolean isAdvanced) {
        return METADATA.properties().stream()
                .filter(property -> text(property, "description").startsWith(ADVANCED) == isAdvanced)
                .sorted((one, other) -> text(one, "name").compareTo(text(other, "name")))
                .map(PropertiesPageTests::row)
                .collect(Collectors.joining("\n", "| Property | Default | Description |\n|---|---|---|\n", ""));
    }

    private static String row(JsonNode property) {
        String description = text(property, "description");
        if (description.startsWith(ADVANCED)) {
            description = StringUtils.capitalize(description.substring(ADVANCED.length()));
        }
        Matcher otherwise = DEFAULT.matcher(description);
        String value = "`%s`".formatted(text(property, "defaultValue"));
        if (!property.has("defaultValue") && otherwise.find()) {
            value = otherwise.group(1);
            description = otherwise.replaceFirst("");
        } else if (property.path("defaultValue").isArray()) {
            value = "none";
        }
        return "| `%s` | %s | %s |".formatted(text(property, "name"), quoted(value), quoted(description));
    }

    /** An editor shows plain text. */
    private static String quoted(String text) {
        return text.replaceAll("'([^' ]+)'", "`$1`");
    }

    private static String listener() {
        return Stream.of(Listener.class.getRecordComponents())
                .flatMap(component -> component.getType() == Delays.class
                        ? Stream.of(Delays.class.getRecordComponents()).map(delay -> row("retry.", delay))
                        : Stream.of(row("", component)))
                .collect(Collectors.joining("\n", "| Setting | Default |\n|---|---|\n", ""));
    }

    /** Names the annotation's attribute first, because it has priority over the property that all listeners share. */
    private static String row(String group, RecordComponent setting) {
        String name = group + DataObjectPropertyName.toDashedForm(setting.getName());
        String attribute = ReflectionUtils.findMethod(ExactlyOnceListener.class, setting.getName()) == null
                ? ""
                : "`%s` of the annotation".formatted(setting.getName());
        String property = Stream.of(PREFIX + name, PREFIX + "claim." + name)
                .filter(each -> METADATA.properties().stream()
                        .anyMatch(known -> text(known, "name").equals(each)))
                .map("`%s`"::formatted)
                .findFirst()
                .orElse("");
        return "| `%s` | %s |"
                .formatted(
                        name,
                        Stream.of(attribute, property)
                                .filter(StringUtils::hasLength)
                                .collect(Collectors.joining(", or else ")));
    }
}
