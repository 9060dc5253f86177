package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

import io.exactlyonce.InDoubtAttempt;
import io.exactlyonce.Reconciler;
import io.exactlyonce.Reconciliation;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ResolvableType;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.GenericMessage;

/** Checks of a reconciler's result against the return type of the handler. */
class TypedReconcilerTests {

    private static final ResolvableType TEXTS = ResolvableType.forClassWithGenerics(List.class, String.class);
    private static final ResolvableType COUNTS =
            ResolvableType.forClassWithGenerics(Map.class, String.class, Integer.class);

    static final class Counting implements Reconciler<Integer> {
        @Override
        public Reconciliation<Integer> reconcile(InDoubtAttempt attempt) {
            return Reconciliation.runAgain();
        }
    }

    static final class Any implements Reconciler<Object> {
        @Override
        public Reconciliation<Object> reconcile(InDoubtAttempt attempt) {
            return Reconciliation.runAgain();
        }
    }

    private final InDoubtAttempt attempt = mock(InDoubtAttempt.class);

    private @Nullable Object result(@Nullable Object found, ResolvableType type) throws Exception {
        given(attempt.listener()).willReturn("charges");
        return new TypedReconciler(asked -> Reconciliation.done(found), Message::getPayload, type)
                .reconcile(attempt)
                .result();
    }

    static Stream<Arguments> resultOfTheHandlersTypeIsKept() {
        return Stream.of(
                Arguments.of("charged", ResolvableType.forClass(String.class)),
                Arguments.of("charged", ResolvableType.forClass(CharSequence.class)),
                Arguments.of(7, ResolvableType.forClass(int.class)),
                Arguments.of(null, ResolvableType.forClass(String.class)),
                Arguments.of(Arrays.asList("a", null), TEXTS),
                Arguments.of(List.of(1), ResolvableType.forClass(List.class)),
                Arguments.of(Map.of("a", 1), COUNTS));
    }

    @ParameterizedTest
    @MethodSource
    void resultOfTheHandlersTypeIsKept(@Nullable Object found, ResolvableType type) throws Exception {
        assertThat(result(found, type)).isEqualTo(found);
    }

    static Stream<Arguments> resultOfAnotherTypeFailsAtOnce() {
        return Stream.of(
                Arguments.of(7, ResolvableType.forClass(String.class), "a java.lang.Integer"),
                Arguments.of(7L, ResolvableType.forClass(int.class), "a java.lang.Long"),
                Arguments.of(List.of("a", 7), TEXTS, "a java.lang.Integer"),
                Arguments.of(Map.of(1, 1), COUNTS, "a java.lang.Integer"),
                Arguments.of(Map.of("a", "b"), COUNTS, "a java.lang.String"));
    }

    @ParameterizedTest
    @MethodSource
    void resultOfAnotherTypeFailsAtOnce(Object found, ResolvableType type, String problem) {
        assertThatIllegalStateException()
                .isThrownBy(() -> result(found, type))
                .withMessageContaining("'charges' answered done with a result that is or contains " + problem)
                .withMessageContaining("the handler returns " + type);
    }

    /** A reconciler in Kotlin passes {@code Long::class.java}, which is the primitive class. */
    @Test
    void payloadIsReadByThePrimitiveClassToo() throws Exception {
        given(attempt.message()).willAnswer(asked -> new GenericMessage<>(7L));
        Reconciler<?> reading = asked -> Reconciliation.done(asked.payload(long.class) + asked.payload(Long.class));

        assertThat(new TypedReconciler(reading, Message::getPayload, ResolvableType.forClass(Long.class))
                        .reconcile(attempt)
                        .result())
                .isEqualTo(14L);
    }

    @Test
    void resultForAHandlerWithoutOneIsIgnored() throws Exception {
        assertThat(result("charged", ResolvableType.NONE)).isNull();
    }

    @Test
    void classThatNamesATypeIsUnfitOnlyIfNoResultCouldFit() {
        assertThat(new TypedReconciler(new Counting(), Message::getPayload, ResolvableType.forClass(String.class))
                        .unfitType())
                .hasToString("java.lang.Integer");
        assertThat(new TypedReconciler(new Counting(), Message::getPayload, ResolvableType.forClass(int.class))
                        .unfitType())
                .isNull();
        assertThat(new TypedReconciler(new Counting(), Message::getPayload, ResolvableType.NONE).unfitType())
                .isNull();
        assertThat(new TypedReconciler(new Any(), Message::getPayload, ResolvableType.forClass(String.class))
                        .unfitType())
                .isNull();
        assertThat(new TypedReconciler(
                                asked -> Reconciliation.done(7),
                                Message::getPayload,
                                ResolvableType.forClass(String.class))
                        .unfitType())
                .isNull();
    }
}
