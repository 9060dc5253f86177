package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.acquire;
import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.DropsReplies;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests writes whose reply is lost. The SDK silently repeats such a write, and the store reports the result of the
 * first execution.
 */
class LostReplyIT {

    private static final DropsReplies REPLIES = new DropsReplies();
    private static final StoreOnTable TABLE = StoreOnTable.create(REPLIES);

    private final DynamoDbClaimStore store = TABLE.store();
    private final int before = REPLIES.dropped();

    @AfterEach
    void replyWasLost() {
        assertThat(REPLIES.dropped()).isEqualTo(before + 1);
    }

    @Test
    void firstClaim() {
        ClaimRequest request = request();
        REPLIES.dropNext();

        assertThat(claim(store, request))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
    }

    @Test
    void takeover() {
        ClaimRequest vanished = request();
        acquire(store, vanished);
        TABLE.endLease(vanished.id());
        ClaimRequest next = request(vanished.key());
        claim(store, request());
        REPLIES.dropNext();

        assertThat(claim(store, next))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(2));
    }

    @Test
    void parkingInDoubt() {
        ClaimRequest vanished = request();
        acquire(store, vanished);
        TABLE.endLease(vanished.id());
        REPLIES.dropNext();

        ClaimRequest cautious = new ClaimRequest(
                new ClaimId(vanished.key(), UUID.randomUUID()), "worker", Requests.LEASE, InDoubt.PARK, null);
        assertThat(claim(store, cautious)).isEqualTo(new Parked());
    }

    @Test
    void renewal() {
        ClaimRequest request = request();
        acquire(store, request);
        REPLIES.dropNext();

        assertThat(store.renew(List.of(new LeaseRenewal(request.id(), Requests.LEASE)))
                        .granted())
                .containsExactly(request.id());
    }

    @Test
    void completion() {
        assertIsRecorded(new ClaimResolution.Completed(acquired(), "1"));
    }

    @Test
    void release() {
        assertIsRecorded(new ClaimResolution.Released(acquired(), "failed", false));
    }

    @Test
    void parking() {
        assertIsRecorded(new ClaimResolution.Parked(acquired(), "who knows", true));
    }

    @Test
    void releaseOfAParkedKey() {
        ClaimRequest parked = parked();
        REPLIES.dropNext();

        assertThat(TABLE.parked().release(parked.id())).isTrue();
    }

    @Test
    void completionOfAParkedKey() {
        ClaimRequest parked = parked();
        REPLIES.dropNext();

        assertThat(TABLE.parked().complete(new ClaimResolution.Completed(parked.id(), "1")))
                .isTrue();
        assertThat(claim(store, request(parked.key()))).isEqualTo(new AlreadyCompleted("1"));
    }

    private void assertIsRecorded(ClaimResolution resolution) {
        REPLIES.dropNext();

        assertThat(store.resolve(List.of(resolution)).granted()).containsExactly(resolution.claim());
    }

    private ClaimId acquired() {
        ClaimRequest request = request();
        acquire(store, request);
        return request.id();
    }

    private ClaimRequest parked() {
        ClaimRequest request = request();
        acquire(store, request);
        store.resolve(List.of(new ClaimResolution.Parked(request.id(), "who knows", true)));
        return request;
    }
}
