package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.BatchResult;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HandlerFailureTests {

    private static final ClaimId FIRST = new ClaimId(new ClaimKey("orders", "1"), new UUID(0, 1));
    private static final ClaimId SECOND = new ClaimId(new ClaimKey("orders", "2"), new UUID(0, 2));

    private final RuntimeException cause = new IllegalStateException("the second");
    private final FailedItems items = named(cause, 2);

    @Test
    void namesTheItemsThatFailed() {
        assertThat(HandlerFailure.of(items).ofItems()).isEqualTo(Map.of(1, cause));
    }

    @Test
    void findsThemBehindTheExceptionsOfProxies() {
        Throwable thrown = new UndeclaredThrowableException(new InvocationTargetException(items));

        assertThat(HandlerFailure.of(thrown).ofItems()).isEqualTo(Map.of(1, cause));
    }

    @Test
    void findsThemBehindOtherWrappersOnlyIfTheseAreGiven() {
        Throwable thrown = new InvocationTargetException(new CompletionException(items));

        assertThat(HandlerFailure.of(thrown).ofItems()).isEmpty();
        assertThat(HandlerFailure.of(thrown, CompletionException.class::isInstance)
                        .ofItems())
                .isEqualTo(Map.of(1, cause));
    }

    @Test
    void fallsBackToAllIfAnItemIsNotThere() {
        FailedItems beyond = named(new IllegalStateException(lost(SECOND)), 1);

        assertThat(HandlerFailure.of(beyond).ofItems()).isEmpty();
        assertThat(beyond)
                .hasMessage(
                        "The handler returned a BatchResult with the failed index 1, but its list had 1 items, at 0 to 0; all of them fail");
        assertThat(HandlerFailure.of(beyond).wasStopped(List.of(SECOND))).isTrue();
    }

    static Stream<Throwable> isStopped() {
        ClaimLostException lost = lost(SECOND);
        return Stream.of(
                new InterruptedException(),
                new IllegalStateException(new ClosedByInterruptException()),
                lost,
                new CompletionException(new IllegalStateException(lost)),
                named(new IllegalStateException(lost), 2));
    }

    @ParameterizedTest
    @MethodSource
    void isStopped(Throwable thrown) {
        assertThat(HandlerFailure.of(thrown).wasStopped(List.of(FIRST, SECOND))).isTrue();
    }

    @Test
    void isNotStoppedByTheLossOfAnotherClaim() {
        assertThat(HandlerFailure.of(lost(SECOND)).wasStopped(List.of(FIRST))).isFalse();
        assertThat(HandlerFailure.of(items).wasStopped(List.of(FIRST, SECOND))).isFalse();
    }

    private static FailedItems named(Throwable second, int size) {
        return Objects.requireNonNull(FailedItems.in(BatchResult.failed(1, second), "The handler", size));
    }

    private static ClaimLostException lost(ClaimId claim) {
        return new ClaimLostException(claim.key().scope(), claim.key().keyHash(), 1, "its lease has expired");
    }
}
