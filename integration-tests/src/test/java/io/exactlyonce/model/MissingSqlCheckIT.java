package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.testing.ReloadingClassLoader;
import io.exactlyonce.testing.RewritingDriver;
import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Removes one check at a time from the statements before a real PostgreSQL gets them. The test that the check names
 * must then fail.
 */
@Tag("ci")
class MissingSqlCheckIT {

    private static final Pattern TEST = Pattern.compile("(.+)#(\\w+)(?:\\((\\w+)\\))?");

    /** Tests that have passed with all checks in place. */
    private static final Set<String> PASSED = new HashSet<>();

    @ParameterizedTest
    @EnumSource
    void testFailsWithoutThisCheck(SqlCheck check) throws Exception {
        AtomicInteger removed = new AtomicInteger();
        AtomicInteger twice = new AtomicInteger();

        if (PASSED.add(check.test())) {
            assertThatCode(() -> run(check.test(), UnaryOperator.identity()))
                    .as("with the check")
                    .doesNotThrowAnyException();
        }
        Throwable failure = catchThrowable(() -> run(check.test(), sql -> {
            try {
                String without = check.remove(sql);
                removed.addAndGet(without.equals(sql) ? 0 : 1);
                return without;
            } catch (IllegalStateException ambiguous) {
                twice.incrementAndGet();
                throw ambiguous;
            }
        }));

        assertThat(removed).as("statements without %s", check).hasPositiveValue();
        assertThat(twice).as("statements that have %s twice", check).hasValue(0);
        // Only an assertion counts as the failure. If PostgreSQL refuses the changed statement, the test has shown
        // nothing.
        assertThat(failure).as("%s without %s", check.test(), check).isInstanceOf(AssertionError.class);
    }

    @Test
    void checkThatIsInAStatementTwiceIsNotRemoved() {
        String once = "UPDATE claim SET x = 1\n   / (pg_current_xact_id() = ?::xid8)::int";

        assertThat(SqlCheck.SAME_TRANSACTION.remove(once)).endsWith(" OR true)::int");
        assertThat(SqlCheck.SAME_TRANSACTION.remove("SELECT 1")).isEqualTo("SELECT 1");
        assertThatIllegalStateException()
                .isThrownBy(() -> SqlCheck.SAME_TRANSACTION.remove(once + "; " + once))
                .withMessageContaining("twice");
    }

    /**
     * Runs one test with changed statements, in a class loader of its own, because its database is static and is closed
     * after all tests.
     */
    private static void run(String test, UnaryOperator<String> statements) throws Throwable {
        RewritingDriver driver = RewritingDriver.open(statements);
        try {
            Matcher names = TEST.matcher(test);
            assertThat(names.matches()).as(test).isTrue();
            run(Class.forName(names.group(1), true, new ReloadingClassLoader()), names.group(2), names.group(3));
        } finally {
            driver.close();
        }
    }

    private static void run(Class<?> type, String test, @Nullable String constant) throws Throwable {
        Method method = Stream.of(type.getDeclaredMethods())
                .filter(each -> each.getName().equals(test))
                .findFirst()
                .orElseThrow(() -> new NoSuchMethodException(type + "#" + test));
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        try {
            invokeAll(type, BeforeAll.class, null);
            Object instance = constructor.newInstance();
            invokeAll(type, BeforeEach.class, instance);
            try {
                invoke(method, instance, arguments(method, constant));
            } finally {
                invokeAll(type, AfterEach.class, instance);
            }
        } finally {
            invokeAll(type, AfterAll.class, null);
        }
    }

    /**
     * Returns the arguments of a parameterized test: the constant that the check names, or else the first constant or
     * row of text.
     */
    private static Object[] arguments(Method method, @Nullable String constant) {
        CsvSource rows = method.getAnnotation(CsvSource.class);
        return rows == null
                ? Stream.of(method.getParameterTypes())
                        .map(type -> Stream.of(type.getEnumConstants())
                                .filter(each ->
                                        constant == null || each.toString().equals(constant))
                                .findFirst()
                                .orElseThrow())
                        .toArray()
                : rows.value()[0].split(",\\s*");
    }

    private static void invokeAll(Class<?> type, Class<? extends Annotation> annotation, @Nullable Object instance)
            throws Throwable {
        for (Method method : type.getDeclaredMethods()) {
            if (method.isAnnotationPresent(annotation)) {
                invoke(method, instance);
            }
        }
    }

    private static void invoke(Method method, @Nullable Object instance, Object... arguments) throws Throwable {
        method.setAccessible(true);
        try {
            method.invoke(instance, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
