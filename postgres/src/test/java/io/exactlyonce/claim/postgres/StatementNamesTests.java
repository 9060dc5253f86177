package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each statement names the schema of all functions, operators, types and relations that it uses; see {@code
 * PgCatalog}.
 */
class StatementNamesTests {

    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|(?m)^\\s*//.*$");

    private static final Pattern TEXT = Pattern.compile("(?s)\"\"\"\\n(.*?)\"\"\"|\"((?:[^\"\\\\\\n]|\\\\.)*)\"");

    private static final Pattern STATEMENT =
            Pattern.compile("pg_catalog\\.|\\{[^\\w{}\\s]+}|\\{table}|\\bSELECT\\b|\\?::");

    private static final Pattern NUMBER = Pattern.compile("%[-,0-9.]*[dfeg]");

    private static final Pattern CONSTANT = Pattern.compile("'(?:[^']|'')*'");

    private static final Pattern OPERATOR = Pattern.compile("\\{[^\\w{}\\s]+}|::");

    private static final Pattern ASSIGNMENT = Pattern.compile("(\\bSET|,|^)\\s*\\w+ = ");

    /** Names without a schema. {@code unnest} with several arguments is syntax, like {@code extract}. */
    private static final Map<String, Pattern> FINDINGS = Map.of(
            "function",
            Pattern.compile(
                    "(?<![\\w.])(?<!AS )(?!(coalesce|greatest|least|extract|substring|unnest|exists|any|array)\\()"
                            + "[a-z]\\w*\\("),
            "unnest of one array",
            Pattern.compile("(?<![\\w.])unnest\\((\\(SELECT [^()]*\\)|[^(),]*)\\)"),
            "type",
            Pattern.compile("::(?!(bigint|int|integer|boolean|numeric)\\b|pg_catalog\\.)\\w+"),
            "relation",
            Pattern.compile(
                    "\\b(FROM|JOIN|INTO) (?!(turn|expired|deleted|relation|looked_at|unnest)\\b|pg_catalog\\.)[a-z]\\w*(?!.)"
                            + "|\\b(?:FROM|JOIN) pg_(?!catalog\\.)\\w+"),
            "operator by its syntax",
            Pattern.compile(
                    "\\b(IN \\(|BETWEEN|I?LIKE|SIMILAR|NULLIF|nullif|IS (NOT )?DISTINCT|USING ?\\(|NATURAL)|CASE\\b(?!\\s+WHEN)"),
            "literal with a type",
            Pattern.compile("\\b(timestamptz|uuid|text|bytea|regclass)\\s+0"));

    private static final Pattern BARE_OPERATOR = Pattern.compile("[=<>+/#|~^&]+|\\s[-*%]\\s");

    private static List<String> findings(String statement) {
        List<String> found = new ArrayList<>();
        String text = CONSTANT.matcher(statement).replaceAll(" 0");
        FINDINGS.forEach((kind, pattern) -> {
            if (pattern.matcher(text).find()) {
                found.add(kind);
            }
        });
        String plain = OPERATOR.matcher(text).replaceAll("");
        boolean assigns = Pattern.compile("\\bSET\\b|^\\s*parked_at = NULL")
                .matcher(plain)
                .find();
        if (BARE_OPERATOR
                .matcher(assigns ? ASSIGNMENT.matcher(plain).replaceAll("$1 ") : plain)
                .find()) {
            found.add("operator");
        }
        return found;
    }

    private static Stream<String> statements(Path source) {
        try {
            return TEXT.matcher(COMMENT.matcher(Files.readString(source)).replaceAll(" "))
                    .results()
                    .map(text -> text.group(1) == null ? text.group(2) : text.group(1))
                    .filter(text -> STATEMENT.matcher(text).find())
                    // Leaves out a remedy that quotes a statement for an operator.
                    .filter(text -> !text.contains("with SELECT"));
        } catch (IOException lost) {
            throw new AssertionError(lost);
        }
    }

    @Test
    void everyStatementNamesTheSchemaOfAllThatItUses() throws IOException {
        Map<String, List<String>> found = new TreeMap<>();
        List<String> all = new ArrayList<>();
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            sources.filter(source -> source.toString().endsWith(".java"))
                    .flatMap(StatementNamesTests::statements)
                    .forEach(statement -> {
                        all.add(statement);
                        if (!findings(statement).isEmpty()) {
                            found.put(statement, findings(statement));
                        }
                    });
        }

        assertThat(all).hasSizeGreaterThan(35);
        assertThat(found).isEmpty();
    }

    /** In some locales {@code "%d"} writes digits that SQL does not know. {@code "%s"} never does. */
    @Test
    void noStatementHasANumberInTheDigitsOfTheLocale() throws IOException {
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            assertThat(sources.filter(source -> source.toString().endsWith(".java"))
                            .flatMap(StatementNamesTests::statements))
                    .isNotEmpty()
                    .noneMatch(statement -> NUMBER.matcher(statement).find());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 1 FROM {table} AS c WHERE c.key = w.key",
                "SELECT a, b = c",
                "SELECT a - b",
                "SELECT now()",
                "SELECT pg_catalog.left(encode(x, 'hex'), 16)",
                "SELECT ?::text",
                "SELECT pg_catalog.unnest((SELECT ?::uuid[]))",
                "SELECT 1 FROM unnest((SELECT ?::bigint[])) WITH ORDINALITY AS w (n)",
                "SELECT c.status IN ('HELD')",
                "SELECT CASE status WHEN 'HELD' THEN 1 END",
                "SELECT a IS DISTINCT FROM b",
                "SELECT timestamptz 'epoch'",
                "SELECT 1 FROM pg_class",
                "UPDATE {table} SET a = b, c = d || e"
            })
    void nameThatASearchPathDecidesIsFound(String statement) {
        assertThat(findings(statement)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE {table} AS claim SET a = w.a, b = coalesce(w.b, claim.b) WHERE claim.key {=} ?",
                "SELECT extract(epoch FROM pg_catalog.now()) {*} 1000000",
                "SELECT ?::pg_catalog.text[], ?::bigint FROM pg_catalog.pg_class AS c"
            })
    void nameWithItsSchemaIsNotFound(String statement) {
        assertThat(findings(statement)).isEmpty();
    }
}
