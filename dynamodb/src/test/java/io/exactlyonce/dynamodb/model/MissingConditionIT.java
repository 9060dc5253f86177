package io.exactlyonce.dynamodb.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.testing.ChangedRequests;
import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.core.SdkRequest;

/**
 * Removes one condition at a time from the requests on their way to DynamoDB Local. The test that the condition names
 * must then fail.
 */
@Tag("ci")
class MissingConditionIT {

    /** Tests that have passed with all conditions. */
    private static final Set<String> PASSED = new HashSet<>();

    @ParameterizedTest
    @EnumSource
    void testFailsWithoutThisCondition(Condition condition) throws Exception {
        AtomicInteger removed = new AtomicInteger();

        if (PASSED.add(condition.test())) {
            assertThatCode(() -> run(condition.test(), UnaryOperator.identity()))
                    .as("with the condition")
                    .doesNotThrowAnyException();
        }
        Throwable failure = catchThrowable(() -> run(condition.test(), request -> {
            SdkRequest without = condition.remove(request);
            removed.addAndGet(without == request ? 0 : 1);
            return without;
        }));

        assertThat(removed).as("requests without %s", condition).hasPositiveValue();
        // Only an assertion counts as the failure. If DynamoDB refuses the changed request, the test has shown nothing.
        assertThat(failure).as("%s without %s", condition.test(), condition).isInstanceOf(AssertionError.class);
    }

    @SuppressWarnings("try") // The requests are changed while the resource is open.
    private static void run(String test, UnaryOperator<SdkRequest> change) throws Throwable {
        String[] names = test.split("#", 2);
        Class<?> type = Class.forName(DynamoDbClaims.class.getPackageName() + "." + names[0]);
        Method method = methods(type)
                .filter(each -> each.getName().equals(names[1]))
                .findFirst()
                .orElseThrow(() -> new NoSuchMethodException(test));
        List<Object[]> arguments = arguments(type, method);
        try (ChangedRequests open = ChangedRequests.open(change)) {
            for (Object[] each : arguments) {
                run(type, method, each);
            }
        }
    }

    private static void run(Class<?> type, Method method, Object[] arguments) throws Throwable {
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object test = constructor.newInstance();
        invoke(method, test, arguments);
        for (Method after :
                methods(type).filter(each -> has(each, AfterEach.class)).toList()) {
            invoke(after, test);
        }
    }

    private static List<Object[]> arguments(Class<?> type, Method method) throws Throwable {
        MethodSource source = method.getAnnotation(MethodSource.class);
        if (source == null) {
            return List.<Object[]>of(new Object[0]);
        }
        Stream<?> values = (Stream<?>) invoke(type.getDeclaredMethod(source.value()[0]), null);
        return values.<Object[]>map(value -> new Object[] {value}).toList();
    }

    /** Returns the tests of the class itself and of its contracts. */
    private static Stream<Method> methods(Class<?> type) {
        return Stream.concat(
                Stream.<Class<?>>iterate(type, each -> each != Object.class, Class::getSuperclass)
                        .flatMap(each -> Stream.of(each.getDeclaredMethods())),
                Stream.of(type.getMethods()));
    }

    private static boolean has(Method method, Class<? extends Annotation> annotation) {
        return method.isAnnotationPresent(annotation);
    }

    private static Object invoke(Method method, Object test, Object... arguments) throws Throwable {
        method.setAccessible(true);
        try {
            return method.invoke(test, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
