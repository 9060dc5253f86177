package io.exactlyonce.servers;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.PropertyResolver;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The schemas that an application's sessions use, by the application's properties. A new server has none of these
 * schemas.
 *
 * @param parameters the parameters of the application's URL that choose schemas, beginning with {@code ?}; empty if
 *     there are none
 * @param names the names of the schemas
 */
record Schemas(String parameters, List<String> names) {

    static final Schemas NONE = new Schemas("", List.of());

    private static final Pattern PARAMETER = Pattern.compile("[?&](currentSchema|options)=([^&]*)");
    private static final Pattern SEARCH_PATH = Pattern.compile("search_path\\s*=\\s*(\\S+)");

    /** An element of a search path, with quotes (which keep upper and lower case) or without. */
    private static final Pattern NAME = Pattern.compile("\\s*(?:\"([^\"]+)\"|([^\",\\s]+))\\s*,?");

    static Schemas of(PropertyResolver properties) {
        List<MatchResult> parameters = PARAMETER
                .matcher(properties.getProperty("spring.datasource.url", ""))
                .results()
                .toList();
        Stream<@Nullable String> paths = Stream.concat(
                parameters.stream().map(Schemas::path),
                Stream.of("schema", "data-source-properties.currentSchema")
                        .map(name -> properties.getProperty("spring.datasource.hikari." + name)));
        return new Schemas(
                parameters.stream()
                        .map(parameter -> parameter.group(1) + "=" + parameter.group(2))
                        .collect(Collectors.joining("&", parameters.isEmpty() ? "" : "?", "")),
                paths.filter(Objects::nonNull)
                        .flatMap(path -> NAME.matcher(path).results())
                        .map(name -> name.group(1) == null ? name.group(2).toLowerCase(Locale.ROOT) : name.group(1))
                        .filter(name -> !name.startsWith("$") && !name.startsWith("pg_"))
                        .distinct()
                        .toList());
    }

    private static String path(MatchResult parameter) {
        String value = URLDecoder.decode(parameter.group(2), StandardCharsets.UTF_8);
        return parameter.group(1).equals("options")
                ? SEARCH_PATH
                        .matcher(value)
                        .results()
                        .map(found -> found.group(1))
                        .collect(Collectors.joining(","))
                : value;
    }

    void create(JdbcTemplate database) {
        names.forEach(
                name -> database.execute("CREATE SCHEMA IF NOT EXISTS \"%s\"".formatted(name.replace("\"", "\"\""))));
    }
}
