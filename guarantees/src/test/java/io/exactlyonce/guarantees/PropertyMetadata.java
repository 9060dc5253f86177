package io.exactlyonce.guarantees;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The metadata of the published modules' properties, for editors. */
record PropertyMetadata(List<JsonNode> groups, List<JsonNode> properties, List<JsonNode> hints) {

    private static final JsonMapper JSON = new JsonMapper();

    static PropertyMetadata read() {
        List<JsonNode> files = files();
        return new PropertyMetadata(
                entries(files, "groups").filter(PropertyMetadata::isOurs).toList(),
                entries(files, "properties").filter(PropertyMetadata::isOurs).toList(),
                entries(files, "hints").toList());
    }

    private static List<JsonNode> files() {
        List<JsonNode> files = new ArrayList<>();
        try {
            for (URL file : Collections.list(PropertyMetadata.class
                    .getClassLoader()
                    .getResources("META-INF/spring-configuration-metadata.json"))) {
                try (InputStream content = file.openStream()) {
                    files.add(JSON.readTree(content));
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return files;
    }

    /** Returns the names of all known properties, including those of other libraries. */
    static List<ConfigurationPropertyName> names() {
        return entries(files(), "properties")
                .map(property -> ConfigurationPropertyName.of(text(property, "name")))
                .toList();
    }

    private static Stream<JsonNode> entries(List<JsonNode> files, String kind) {
        return files.stream().flatMap(file -> file.path(kind).valueStream());
    }

    private static boolean isOurs(JsonNode entry) {
        return text(entry, "sourceType").startsWith("io.exactlyonce.");
    }

    /** Returns the values that an editor offers for a property, if any. */
    Optional<JsonNode> hint(JsonNode property) {
        return hints.stream()
                .filter(hint -> text(hint, "name").equals(text(property, "name")))
                .findFirst();
    }

    /** Returns the types that declare these properties, without the types nested in them. */
    List<JsonNode> roots() {
        return groups.stream()
                .filter(group -> !group.has("sourceMethod"))
                .filter(group -> text(group, "name").startsWith("exactly-once"))
                .toList();
    }

    static String text(JsonNode entry, String field) {
        return entry.path(field).asString("");
    }

    static Stream<String> values(JsonNode hint) {
        return hint.path("values")
                .valueStream()
                .map(value -> value.path("value").asString());
    }
}
