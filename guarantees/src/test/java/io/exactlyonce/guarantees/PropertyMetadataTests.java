package io.exactlyonce.guarantees;

import static io.exactlyonce.guarantees.PropertyMetadata.text;
import static io.exactlyonce.guarantees.PropertyMetadata.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.exactlyonce.audit.AuditRules;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.util.ClassUtils;
import tools.jackson.databind.JsonNode;

/** An editor can explain and complete every property of the published modules. */
class PropertyMetadataTests {

    private static final PropertyMetadata METADATA = PropertyMetadata.read();

    private static final String LISTENERS =
            "java.util.Map<java.lang.String,io.exactlyonce.autoconfigure.ExactlyOnceProperties$Listener>";

    private static final Pattern SENTENCES = Pattern.compile("(?!The |A |An )[A-Z].*\\.");
    private static final Pattern BOUNDS = Pattern.compile("\\bfrom [\\d.]+\\w* to [\\d.]+|\\bat least \\d");

    static Stream<JsonNode> properties() {
        return METADATA.properties().stream();
    }

    @Test
    void propertiesOfAllModulesAreChecked() {
        assertThat(properties().map(property -> text(property, "name")))
                .contains(
                        "exactly-once.claim.lease",
                        "exactly-once.dynamodb.table-name",
                        "management.endpoint.exactlyonce.access");
    }

    @ParameterizedTest
    @MethodSource("properties")
    void propertyIsDescribed(JsonNode property) {
        String description = text(property, "description");

        assertThat(description).matches(SENTENCES);
        if (text(property, "type").equals(Boolean.class.getName())) {
            assertThat(description).startsWith("Whether ");
        }
    }

    @ParameterizedTest
    @MethodSource("properties")
    void propertyHasADefaultOrDescribesWhatHoldsWithoutOne(JsonNode property) {
        assertThat(property.has("defaultValue") || text(property, "description").contains(" Default: "))
                .as("a default, or 'Default: ...' in the description, of %s", property)
                .isTrue();
    }

    /**
     * An editor completes booleans and enums by their types. The metadata has no bounds, so descriptions of numbers and
     * durations must state them. The metadata has no syntax of durations and sizes, so descriptions need examples. The
     * metadata has no ids.
     */
    @ParameterizedTest
    @MethodSource("properties")
    void propertyHelpsWithItsValues(JsonNode property) throws ClassNotFoundException {
        String type = text(property, "type");
        switch (type) {
            case "java.lang.Boolean", "java.lang.String" -> {}
            case "java.lang.Integer", "java.lang.Double" -> assertNamesBounds(property);
            case "java.time.Duration", "org.springframework.util.unit.DataSize" -> {
                assertNamesBounds(property);
                assertOffers(property, true);
            }
            case "java.util.Set<java.lang.String>" -> {
                // Roles are the application's own.
                if (!text(property, "name").endsWith(".roles")) {
                    assertOffers(property, false);
                }
            }
            case LISTENERS -> {
                List<String> settings = Stream.of(ExactlyOnceProperties.Listener.class.getRecordComponents())
                        .map(component -> DataObjectPropertyName.toDashedForm(component.getName()))
                        .toList();
                assertThat(text(property, "description")).contains(settings);
            }
            default ->
                assertThat(ClassUtils.forName(type, null).isEnum())
                        .as("decide what helps an editor with a %s: %s", type, property)
                        .isTrue();
        }
    }

    private static void assertNamesBounds(JsonNode property) {
        assertThat(text(property, "description")).containsPattern(BOUNDS);
    }

    private static void assertOffers(JsonNode property, boolean others) {
        JsonNode hint = METADATA.hint(property).orElseThrow(() -> new AssertionError("no hint for " + property));

        assertThat(hint.path("values").valueStream())
                .hasSizeGreaterThan(1)
                .allSatisfy(value -> assertThat(text(value, "description")).endsWith("."));
        assertThat(hint.path("providers")
                        .valueStream()
                        .anyMatch(provider -> text(provider, "name").equals("any")))
                .as("whether an editor accepts other values, too: %s", hint)
                .isEqualTo(others);
        if (property.path("defaultValue").isString()) {
            assertThat(values(hint)).contains(text(property, "defaultValue"));
        }
    }

    @Test
    void everyHintIsForAProperty() {
        assertThat(properties().map(property -> text(property, "name")).toList())
                .containsAll(METADATA.hints().stream()
                        .map(hint -> text(hint, "name"))
                        .filter(name -> name.contains("exactly-once") || name.contains("exactlyonce"))
                        .toList());
    }

    @Test
    void rulesThatCanBeSilencedAreOffered() {
        JsonNode silence = properties()
                .filter(property -> text(property, "name").equals("exactly-once.audit.silence"))
                .findFirst()
                .orElseThrow();

        assertThat(values(METADATA.hint(silence).orElseThrow())).containsExactlyInAnyOrderElementsOf(AuditRules.ids());
    }

    /** Bounds are checked when the values are bound. */
    @ParameterizedTest
    @MethodSource("properties")
    void offeredValuesAreAccepted(JsonNode property) {
        METADATA.hint(property).stream()
                .flatMap(PropertyMetadata::values)
                .forEach(value -> assertThatNoException()
                        .as("%s=%s", text(property, "name"), value)
                        .isThrownBy(() -> bind(text(property, "name"), value)));
    }

    private static void bind(String name, String value) throws ClassNotFoundException {
        var binder = new Binder(new MapConfigurationPropertySource(Map.of(name, value)));
        for (JsonNode root : METADATA.roots()) {
            binder.bindOrCreate(text(root, "name"), ClassUtils.forName(text(root, "type"), null));
        }
    }
}
