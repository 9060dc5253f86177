package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.ExactlyOnceOperations.OnceCall;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.result.TestResults;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.ParameterizedTypeReference;

class DefaultExactlyOnceOperationsTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final AtomicInteger checks = new AtomicInteger();
    private final DefaultExactlyOnceOperations operations = new DefaultExactlyOnceOperations(
            new ActionExecutor(
                    rig.claims(),
                    new ClaimSettings("worker", null),
                    rig.renewer,
                    new StoredResults(
                            TestResults.reading((json, type) -> type == String.class ? json : List.of(json)),
                            Long.MAX_VALUE),
                    rig.clock),
            checks::incrementAndGet);

    @Test
    void doubtsAreRunAgainUnlessTheCallerWantsThemParked() {
        operations.once("orders", "A-1").run(claim -> {});
        operations.once("orders", "A-2").parkInDoubt().run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::inDoubt)
                .containsExactly(InDoubt.TAKE_OVER, InDoubt.PARK);
    }

    @Test
    void contentIsComparedOnlyIfTheCallerNamesIt() {
        operations.once("orders", "A-1").comparing("body").run(claim -> {});
        operations.once("orders", "A-2").run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint)
                .containsExactly(ClaimKey.sha256("body"), null);
    }

    /** An application may use a call object several times, so each option returns a new call object. */
    @Test
    void callIsNotChangedByWhatIsAddedToIt() {
        OnceCall<RuntimeException> call = operations.once("orders", "A-1");

        call.comparing("body").parkInDoubt().run(claim -> {});
        call.run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint, ClaimRequest::inDoubt)
                .containsExactly(tuple(ClaimKey.sha256("body"), InDoubt.PARK), tuple(null, InDoubt.TAKE_OVER));
    }

    /** The compiler requires that the caller declares or catches the checked exception. */
    @Test
    void checkedExceptionOfTheActionReachesItsCaller() {
        IOException failure = new IOException("provider is down");

        try {
            operations.once("orders", "A-1").throwing(IOException.class).run(claim -> {
                throw failure;
            });
            fail("The action's failure did not reach its caller");
        } catch (IOException thrown) {
            assertThat(thrown).isSameAs(failure);
        }
        rig.assertReleased("java.io.IOException: provider is down");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b"})
    void scopesAndKeysThatCannotBeStoredAreRefused(String text) {
        assertThatThrownBy(() -> operations.once("orders", text)).isInstanceOf(UnusableKeyException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.once(text, "A-1"))
                .withMessageContaining("scope");

        assertThat(rig.store.claims()).isEmpty();
    }

    @Test
    void storeIsCheckedBeforeEachActionAndNotBefore() {
        OnceCall<RuntimeException> call = operations.once("orders", "A-1");
        assertThat(checks).hasValue(0);

        call.run(claim -> {});

        assertThat(checks).hasValue(1);
    }

    @Test
    void actionsResultIsReturned() {
        assertThat(operations.once("orders", "A-1").call(String.class, claim -> "done"))
                .isEqualTo("done");
        assertThat(operations
                        .once("orders", "A-2")
                        .call(new ParameterizedTypeReference<List<String>>() {}, claim -> List.of("done, too")))
                .containsExactly("[done, too]");
    }
}
