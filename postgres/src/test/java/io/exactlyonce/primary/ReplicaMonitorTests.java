package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.postgres.SynchronousCommit;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

@ExtendWith(OutputCaptureExtension.class)
class ReplicaMonitorTests {

    private static final String FORGETS = "A failover may forget claims";
    private static final String BLIND = "GRANT pg_monitor TO";

    private final ReplicaMonitor warnings = monitor(SynchronousCommit.ON);

    @Test
    void asynchronousReplicasAreLoggedOnce(CapturedOutput output) {
        warnings.warn(List.of(replica("a", false)));
        warnings.warn(List.of(replica("a", false), replica("b", false)));

        assertThat(output).containsOnlyOnce(FORGETS).contains("replicas a (", "synchronous_standby_names");
    }

    @Test
    void changeIsReported(CapturedOutput output) {
        warnings.warn(List.of(replica("a", false)));
        warnings.warn(List.of(replica("a", true)));
        assertThat(output).contains("wait for a synchronous replica again");
        warnings.warn(List.of(replica("a", false)));

        assertThat(output.toString().split(FORGETS, -1)).hasSize(3);
    }

    @Test
    void oneSynchronousReplicaIsEnough(CapturedOutput output) {
        warnings.warn(List.of(replica("a", false), replica("b", true)));
        warnings.warn(List.of());

        assertThat(output).doesNotContain(FORGETS);
    }

    @Test
    void synchronousReplicaIsOfNoUseForCommitsThatDoNotWaitForIt(CapturedOutput output) {
        monitor(SynchronousCommit.LOCAL).warn(List.of(replica("a", true)));

        assertThat(output).contains(FORGETS, "synchronous-commit is local");
    }

    @Test
    void missingGrantIsReportedOnceAndNothingIsConcludedFromWhatCannotBeSeen(CapturedOutput output) {
        var hidden = new ReplicaMonitor.Status("unnamed@local", false, false, 0, 0);
        warnings.warn(List.of(hidden));
        warnings.warn(List.of(hidden));

        assertThat(output).containsOnlyOnce(BLIND).doesNotContain(FORGETS);
    }

    @Test
    void failureIsReportedOncePerOutage(CapturedOutput output) {
        warnings.unreadable(new IllegalStateException("first"));
        warnings.unreadable(new IllegalStateException("second"));
        warnings.warn(List.of());
        warnings.unreadable(new IllegalStateException("third"));

        assertThat(output).contains("first", "third").doesNotContain("second");
    }

    private static ReplicaMonitor monitor(SynchronousCommit synchronousCommit) {
        return new ReplicaMonitor(ClaimPool.around(new DriverManagerDataSource(), 2), synchronousCommit, List.of());
    }

    private static ReplicaMonitor.Status replica(String name, boolean synchronous) {
        return new ReplicaMonitor.Status(name, true, synchronous, 0, 0);
    }
}
