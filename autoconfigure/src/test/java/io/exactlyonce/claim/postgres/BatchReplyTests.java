package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BatchReplyTests {

    private final List<ClaimEnd> ends = Stream.of("1", "2", "3", "4")
            .<ClaimEnd>map(key -> new ClaimEnd.Completed(new ClaimId(key(key), UUID.randomUUID()), null))
            .toList();
    private final List<ClaimRequest> claims = Stream.of("5", "6", "7")
            .map(key -> new ClaimRequest(key(key), UUID.randomUUID(), "worker", Duration.ofMinutes(1)))
            .toList();

    @Test
    void endThatNoRowSpeaksOfMustHaveBeenCounted() {
        assertThatThrownBy(new BatchReply(ends.subList(0, 1), List.of())::complete)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("PostgreSQL answered 0 of 1 ends of a batch");
    }

    @Test
    void claimThatNoRowSpeaksOfMustHaveBeenCounted() {
        assertThatThrownBy(new BatchReply(List.of(), claims.subList(0, 1))::complete)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("PostgreSQL answered 0 of 1 claims of a batch");
    }

    /** Lost, locked and changed meanwhile are three answers: after the first its worker stops, after the others it asks again. */
    @Test
    void endsThatNoRowSpeaksOfAreRecordedAndTheOthersToldApart() throws SQLException {
        BatchReply reply = new BatchReply(ends, List.of());
        reply.read(row(Map.of("what", "ended", "number", 1)));
        reply.read(row(Map.of("what", "changed", "number", 1)));
        reply.read(row(Map.of("what", "passed", "number", 2)));
        reply.read(row(Map.of("what", "lost", "number", 4)));

        reply.complete();

        assertThat(ends).map(end -> reply.isRecorded(end.claim())).containsExactly(false, false, true, false);
        assertThat(ends).map(end -> reply.isChangedMeanwhile(end.claim())).containsExactly(true, false, false, false);
        assertThat(ends).map(end -> reply.isLocked(end.claim())).containsExactly(false, true, false, false);
    }

    @Test
    void claimsThatNoRowSpeaksOfAreMadeAndTheOthersHaveMetARow() throws SQLException {
        UUID holder = UUID.randomUUID();
        BatchReply reply = new BatchReply(List.of(), claims);
        reply.read(row(Map.of("what", "claimed", "number", 1, "fencing_token", 7L)));
        reply.read(
                row(Map.of("what", "met", "number", 1, "status", "HELD", "claim_id", holder, "remaining_micros", 5L)));
        reply.read(row(Map.of("what", "met", "number", 3)));

        reply.complete();

        assertThat(reply.claimed(claims.get(1).id())).isEqualTo(new Acquired(1, 7, false));
        assertThat(reply.claimed(claims.get(0).id())).isNull();
        assertThat(reply.claimed(claims.get(2).id())).isNull();
        assertThat(reply.met(claims.get(0).key())).isNotNull();
        assertThat(reply.met(claims.get(0).key()).isHeldBy(holder)).isTrue();
        assertThat(reply.met(claims.get(0).key()).remainingMicros()).isEqualTo(5);
        assertThat(reply.met(claims.get(1).key())).isNull();
        assertThat(reply.met(claims.get(2).key()))
                .as("of a row that is too young")
                .isNull();
    }

    private static ClaimKey key(String key) {
        return new ClaimKey("orders", key);
    }

    /** A row of the statement's answer; columns that are not given are NULL. */
    private static ResultSet row(Map<String, Object> columns) {
        return (ResultSet) Proxy.newProxyInstance(
                BatchReplyTests.class.getClassLoader(),
                new Class<?>[] {ResultSet.class},
                (proxy, method, arguments) -> {
                    Object value = columns.get(arguments[0]);
                    if (value != null || !method.getReturnType().isPrimitive()) {
                        return value;
                    }
                    return switch (method.getName()) {
                        case "getBoolean" -> false;
                        case "getLong" -> 0L;
                        default -> 0;
                    };
                });
    }
}
