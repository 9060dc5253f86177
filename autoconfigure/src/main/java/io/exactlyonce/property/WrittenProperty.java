package io.exactlyonce.property;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.FileCopyUtils;

/** Where a property is written, and what it is: for failures alone. Its value may be a secret. */
final class WrittenProperty {

    private WrittenProperty() {}

    /** Returns where a property was set, as the end of a sentence; empty if that is not known. */
    static String origin(Environment environment, String name) {
        return environment instanceof ConfigurableEnvironment configurable
                ? find(configurable, ConfigurationPropertyName.of(name))
                        .map(WrittenProperty::origin)
                        .orElse("")
                : "";
    }

    /** Returns the property as the source writes it that comes first. */
    static Optional<ConfigurationProperty> find(ConfigurableEnvironment environment, ConfigurationPropertyName name) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.from(environment.getPropertySources())) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null) {
                return Optional.of(found);
            }
        }
        return Optional.empty();
    }

    static String origin(ConfigurationProperty found) {
        return found.getOrigin() == null ? "" : " (set by %s)".formatted(found.getOrigin());
    }

    /** Returns a failure's text as one line, without what moves a terminal's cursor: it quotes what is written, perhaps several lines. */
    static String line(String text) {
        return text.replaceAll("\\p{Cc}+", " ");
    }

    /** Returns what the property is, with its bounds, as editors show it; empty if the metadata was left out of the application. */
    static Optional<String> description(ConfigurationPropertyName name) {
        try {
            for (URL file : Collections.list(WrittenProperty.class
                    .getClassLoader()
                    .getResources("META-INF/spring-configuration-metadata.json"))) {
                Optional<String> description = description(name, file);
                if (description.isPresent()) {
                    return description;
                }
            }
        } catch (IOException unreadable) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    private static Optional<String> description(ConfigurationPropertyName name, URL file) throws IOException {
        try (Reader content = new InputStreamReader(file.openStream(), StandardCharsets.UTF_8)) {
            Object properties = JsonParserFactory.getJsonParser()
                    .parseMap(FileCopyUtils.copyToString(content))
                    .getOrDefault("properties", List.of());
            return ((List<?>) properties)
                    .stream()
                            .map(property -> (Map<?, ?>) property)
                            .filter(property -> name.toString().equals(property.get("name")))
                            .map(property -> property.get("description"))
                            .filter(Objects::nonNull)
                            .map(String::valueOf)
                            .findFirst();
        }
    }
}
