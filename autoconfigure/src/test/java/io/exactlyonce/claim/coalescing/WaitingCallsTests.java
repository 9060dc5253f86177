package io.exactlyonce.claim.coalescing;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What may go to the store together, and what has waited for too long. */
class WaitingCallsTests {

    private static final long NEVER = Long.MAX_VALUE / 2;
    private static final int MOST = 10;

    private final WaitingCalls waiting = new WaitingCalls(MOST);
    private final Set<ClaimKey> onTheirWay = new HashSet<>();
    private final ClaimRequest claim = request(newKey());

    private PendingCall<?> asked(ClaimRequest request, long deadline) {
        PendingCall<?> entry = PendingCall.of(request, deadline);
        waiting.add(List.of(entry));
        return entry;
    }

    private PendingCall<?> completed(ClaimRequest request, String result) {
        PendingCall<?> entry = PendingCall.of(new ClaimEnd.Completed(request.id(), result), NEVER);
        waiting.add(List.of(entry));
        return entry;
    }

    /** Which of them came first would be left to chance. */
    @Test
    void twoEndsOfOneKeyGoOneAfterTheOther() {
        PendingCall<?> first = completed(claim, "1");
        PendingCall<?> second = completed(claim, "2");

        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(first));
        onTheirWay.clear();
        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(second));
    }

    @Test
    void nothingGoesOfAKeyThatIsOnItsWayWithAnotherBatch() {
        PendingCall<?> entry = asked(claim, NEVER);
        PendingCall<?> other = asked(request(newKey()), NEVER);
        onTheirWay.add(claim.key());

        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(other));
        assertThat(waiting.count()).isOne();
        onTheirWay.clear();
        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(entry));
    }

    @Test
    void claimsOfOneKeyGoTogetherButBehindItsCompletion() {
        PendingCall<?> first = asked(claim, NEVER);
        PendingCall<?> second = asked(
                new ClaimRequest(
                        claim.key(),
                        UUID.randomUUID(),
                        claim.owner(),
                        claim.lease(),
                        claim.inDoubt(),
                        claim.fingerprint()),
                NEVER);
        PendingCall<?> completion = completed(claim, "1");

        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(completion));
        onTheirWay.clear();
        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(first, second));
        assertThat(onTheirWay).containsExactly(claim.key());
    }

    @Test
    void batchHoldsNoMoreThanItsMost() {
        for (int entry = 0; entry <= MOST; entry++) {
            asked(request(newKey()), NEVER);
        }

        assertThat(waiting.removeBatch(onTheirWay)).hasSize(MOST);
        assertThat(waiting.removeBatch(onTheirWay)).hasSize(1);
    }

    @Test
    void resultsThatAreLargeTogetherGoOneAfterTheOtherAndOneThatIsLargerAloneGoes() {
        String large = "x".repeat(3_000_000);
        PendingCall<?> first = completed(claim, large);
        PendingCall<?> second = completed(request(newKey()), large + large);
        PendingCall<?> small = completed(request(newKey()), "1");

        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(first, small));
        assertThat(waiting.removeBatch(onTheirWay)).isEqualTo(List.of(second));
    }

    @Test
    void firstDeadlineIsThatOfTheEntryThatHasWaitedLongest() {
        PendingCall<?> overdue = asked(claim, 100);
        PendingCall<?> patient = asked(request(newKey()), 101);

        assertThat(waiting.untilFirstDeadline(40)).hasValue(60);
        assertThat(waiting.remove(overdue::equals)).isEqualTo(List.of(overdue));
        assertThat(waiting.untilFirstDeadline(40)).hasValue(61);
        assertThat(waiting.remove(entry -> true)).isEqualTo(List.of(patient));
        assertThat(waiting.untilFirstDeadline(40)).isEmpty();
    }

    @Test
    void callThatIsTakenBackNeverGoes() {
        PendingCall<?> entry = asked(claim, NEVER);

        assertThat(waiting.remove(entry::equals)).isEqualTo(List.of(entry));
        assertThat(waiting.remove(entry::equals)).isEmpty();
        assertThat(waiting.removeBatch(onTheirWay)).isEmpty();
    }
}
