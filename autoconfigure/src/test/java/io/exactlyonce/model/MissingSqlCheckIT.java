package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.testing.ReloadingClassLoader;
import io.exactlyonce.testing.RewritingDriver;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each guard that is SQL is noticed when it is missing: the statements that go to a real PostgreSQL have lost its check, and
 * the test that is to notice it fails. Removes one check at a time.
 */
class MissingSqlCheckIT {

    @ParameterizedTest
    @EnumSource
    void testFailsWithoutThisCheck(SqlCheck check) throws Exception {
        AtomicInteger removed = new AtomicInteger();
        AtomicInteger twice = new AtomicInteger();

        assertThatCode(() -> run(check.test(), UnaryOperator.identity()))
                .as("with the check")
                .doesNotThrowAnyException();
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
        // Nothing else: a statement that PostgreSQL refuses would show nothing.
        assertThat(failure).as("%s without %s", check.test(), check).isInstanceOf(AssertionError.class);
    }

    @Test
    void checkThatIsInAStatementTwiceIsNotRemoved() {
        String once = "UPDATE claim SET x = 1 WHERE true\n   AND current_setting('exactly_once.transaction', true) = ?";

        assertThat(SqlCheck.SAME_TRANSACTION.remove(once)).endsWith(" OR true)");
        assertThat(SqlCheck.SAME_TRANSACTION.remove("SELECT 1")).isEqualTo("SELECT 1");
        assertThatIllegalStateException()
                .isThrownBy(() -> SqlCheck.SAME_TRANSACTION.remove(once + "; " + once))
                .withMessageContaining("twice");
    }

    /** Runs one test on other statements, in classes of its own: its database is static, and closed after all tests. */
    private static void run(String test, UnaryOperator<String> statements) throws Throwable {
        RewritingDriver driver = RewritingDriver.open(statements);
        try {
            String[] names = test.split("#", 2);
            run(Class.forName(names[0], true, new ReloadingClassLoader()), names[1]);
        } finally {
            driver.close();
        }
    }

    private static void run(Class<?> type, String test) throws Throwable {
        Method method = type.getDeclaredMethod(test);
        Constructor<?> constructor = type.getDeclaredConstructor();
        method.setAccessible(true);
        constructor.setAccessible(true);
        try {
            method.invoke(constructor.newInstance());
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        } finally {
            afterAll(type);
        }
    }

    private static void afterAll(Class<?> type) throws ReflectiveOperationException {
        for (Method method : type.getDeclaredMethods()) {
            if (method.isAnnotationPresent(AfterAll.class)) {
                method.setAccessible(true);
                method.invoke(null);
            }
        }
    }
}
