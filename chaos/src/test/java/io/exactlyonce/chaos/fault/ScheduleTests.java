package io.exactlyonce.chaos.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.chaos.dynamodb.ServiceFault;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTests {

    @Test
    void oneSeedDrawsOneSchedule() {
        assertThat(Schedule.draw(17, Scale.small()))
                .hasToString(Schedule.draw(17, Scale.small()).toString());
        assertThat(Schedule.draw(17, Scale.small()).toString())
                .isNotEqualTo(Schedule.draw(18, Scale.small()).toString());
    }

    @Test
    void longFormHasWhatItPromises() {
        String schedule = Schedule.draw(17, Scale.large()).toString();

        assertThat(Scale.large().messages()).isGreaterThanOrEqualTo(100_000);
        assertThat(count(schedule, "Kill")).isGreaterThanOrEqualTo(100);
        assertThat(count(schedule, "FreezeWorker") + count(schedule, "CollectGarbage"))
                .isGreaterThanOrEqualTo(50);
        assertThat(count(schedule, "RestartPrimary") + count(schedule, "FreezeSqs"))
                .isGreaterThanOrEqualTo(10);
        assertThat(count(schedule, "FailOver[asynchronous=true")).isGreaterThanOrEqualTo(2);
        assertThat(count(schedule, "FailOver")).isGreaterThanOrEqualTo(5);
        assertThat(count(schedule, "Partition")).isGreaterThanOrEqualTo(20);
    }

    @Test
    void claimsInDynamoDbMeetEachOfItsTroublesAndNoneOfPostgresql() {
        String small = Schedule.draw(17, Scale.smallOnDynamoDb()).toString();
        String large = Schedule.draw(17, Scale.largeOnDynamoDb()).toString();

        for (ServiceFault trouble : ServiceFault.values()) {
            assertThat(small).contains("DisturbDynamoDb[fault=" + trouble);
        }
        assertThat(small + large).doesNotContain("RestartPrimary", "FailOver", "DelayReplica", "FillDisk");
        assertThat(Scale.largeOnDynamoDb().messages()).isGreaterThanOrEqualTo(100_000);
        assertThat(count(large, "Kill")).isGreaterThanOrEqualTo(100);
        assertThat(count(large, "DisturbDynamoDb")).isGreaterThanOrEqualTo(40);
    }

    @Test
    void eachWorkerMayHaveToSeeAClaimInDynamoDbUnchangedForItsLease() {
        Duration leases =
                Duration.ofSeconds(30).multipliedBy(Scale.smallOnDynamoDb().workers());

        assertThat(Scale.smallOnDynamoDb().longestDrain())
                .as("and what is redelivered meanwhile comes back once more")
                .isGreaterThan(Scale.small().drain().plus(leases).plusSeconds(30));
        assertThat(Scale.smallOnDynamoDb().drain())
                .as("of listeners that hold their keys themselves")
                .isEqualTo(Scale.small().drain());
    }

    @Test
    void handlerThatOutlivesItsVisibilityTimeoutWaitsForItsOwnLeaseAtEveryOtherReceive() {
        Duration lease = Duration.ofSeconds(30);

        for (Scale scale : List.of(Scale.small(), Scale.large(), Scale.soak(Duration.ofHours(1)))) {
            assertThat(scale.longestDrain())
                    .as("four of eight receives of a message of once(..) in " + scale)
                    .isGreaterThan(scale.drain().plus(lease.multipliedBy(4)));
        }
    }

    @Test
    void workersOfOneLaneAreNotHitByTheOther() {
        Schedule.draw(17, Scale.large()).toString().lines().forEach(line -> {
            if (line.startsWith("workers-")) {
                int slot = Integer.parseInt(line.replaceAll(".*slot=(\\d+).*", "$1"));
                assertThat(slot % 2).as(line).isEqualTo(line.startsWith("workers-1") ? 0 : 1);
            }
        });
    }

    private static long count(String schedule, String fault) {
        return schedule.lines().filter(line -> line.contains("ms " + fault)).count();
    }
}
