package io.exactlyonce.primary.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.primary.SynchronousCommit;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class ReplicaWarningsTests {

    private static final String FORGETS = "A failover may forget claims";
    private static final String BLIND = "GRANT pg_monitor TO";

    private final ReplicaWarnings warnings = new ReplicaWarnings(SynchronousCommit.ON);

    @Test
    void asynchronousReplicasAreWarnedOfOnce(CapturedOutput output) {
        warnings.read(List.of(replica("a", false)));
        warnings.read(List.of(replica("a", false), replica("b", false)));

        assertThat(output).containsOnlyOnce(FORGETS).contains("replicas a (", "synchronous_standby_names");
    }

    @Test
    void changeIsTold(CapturedOutput output) {
        warnings.read(List.of(replica("a", false)));
        warnings.read(List.of(replica("a", true)));
        assertThat(output).contains("wait for a synchronous replica again");
        warnings.read(List.of(replica("a", false)));

        assertThat(output.toString().split(FORGETS, -1)).hasSize(3);
    }

    @Test
    void oneSynchronousReplicaIsEnough(CapturedOutput output) {
        warnings.read(List.of(replica("a", false), replica("b", true)));
        warnings.read(List.of());

        assertThat(output).doesNotContain(FORGETS);
    }

    @Test
    void synchronousReplicaIsOfNoUseForCommitsThatDoNotWaitForIt(CapturedOutput output) {
        new ReplicaWarnings(SynchronousCommit.LOCAL).read(List.of(replica("a", true)));

        assertThat(output).contains(FORGETS, "synchronous-commit is local");
    }

    @Test
    void missingGrantIsToldOnceAndNothingIsConcludedFromWhatCannotBeSeen(CapturedOutput output) {
        var hidden = new ReplicaStatus("unnamed@local", false, false, Optional.empty(), 100, 100);
        warnings.read(List.of(hidden));
        warnings.read(List.of(hidden));

        assertThat(output).containsOnlyOnce(BLIND).doesNotContain(FORGETS);
    }

    @Test
    void failureIsToldOncePerOutage(CapturedOutput output) {
        warnings.unreadable(new IllegalStateException("first"));
        warnings.unreadable(new IllegalStateException("second"));
        warnings.read(List.of());
        warnings.unreadable(new IllegalStateException("third"));

        assertThat(output).contains("first", "third").doesNotContain("second");
    }

    private static ReplicaStatus replica(String name, boolean synchronous) {
        return new ReplicaStatus(name, true, synchronous, Optional.empty(), 100, 100);
    }
}
