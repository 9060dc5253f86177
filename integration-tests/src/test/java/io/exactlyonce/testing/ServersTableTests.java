package io.exactlyonce.testing;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;

/**
 * {@code docs/contributing/sqs-test-classes.md} has a row for each class that uses SQS. The row names each test that is
 * skipped because a server deviates from AWS.
 */
class ServersTableTests {

    private static final Path PAGE = Path.of("..", "docs", "contributing", "sqs-test-classes.md");
    private static final Path TESTS = Path.of("src/test/java");
    private static final String HEAD = "| Test class | ElasticMQ | LocalStack | moto |";
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+IT)` \\|.*$");

    @Test
    void everyClassThatUsesSqsHasARow() throws Exception {
        assertThat(classesThatUseSqs())
                .as("rows of %s", PAGE)
                .extracting(Class::getSimpleName)
                .isNotEmpty()
                .containsExactlyInAnyOrderElementsOf(rows().keySet());
    }

    @Test
    void everyTestThatADeviationSkipsIsInItsRow() throws Exception {
        Map<String, String> rows = rows();
        for (Class<?> test : classesThatUseSqs()) {
            for (Method method :
                    AnnotationSupport.findAnnotatedMethods(test, DeviatesOn.class, HierarchyTraversalMode.TOP_DOWN)) {
                assertThat(rows.get(test.getSimpleName())).contains("`" + method.getName() + "`");
            }
        }
    }

    private static Map<String, String> rows() throws IOException {
        String document = Files.readString(PAGE);
        String table = document.substring(document.indexOf(HEAD)).split("\n\n", 2)[0];
        return ROW.matcher(table).results().collect(toMap(row -> row.group(1), row -> row.group()));
    }

    private static List<Class<?>> classesThatUseSqs() throws IOException {
        try (Stream<Path> files = Files.walk(TESTS)) {
            return files.filter(file -> file.toString().endsWith("IT.java"))
                    .<Class<?>>map(ServersTableTests::load)
                    .filter(test -> test.isAnnotationPresent(UsesSqs.class))
                    .toList();
        }
    }

    /** Loads a class without its initializer, which may start servers. */
    private static Class<?> load(Path file) {
        String name = TESTS.relativize(file).toString().replace(".java", "").replace('/', '.');
        try {
            return Class.forName(name, false, ServersTableTests.class.getClassLoader());
        } catch (ClassNotFoundException missing) {
            throw new AssertionError("No class of " + file, missing);
        }
    }
}
