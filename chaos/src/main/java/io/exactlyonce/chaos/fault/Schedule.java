package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.cluster.Traffic;
import io.exactlyonce.chaos.dynamodb.ServiceFault;
import io.exactlyonce.chaos.fleet.Wires.Side;
import io.exactlyonce.chaos.worker.Point;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** All faults of a run, drawn from a seed. The same seed and scale give the same faults. */
public final class Schedule {

    private static final List<Traffic.Kind> WAYS =
            List.of(Traffic.Kind.CUT, Traffic.Kind.BLACK_HOLE, Traffic.Kind.REPLIES_LOST, Traffic.Kind.SLOW);
    private static final List<Side> SIDES = List.copyOf(EnumSet.allOf(Side.class));
    private static final List<ServiceFault> TROUBLES = List.copyOf(EnumSet.allOf(ServiceFault.class));
    private static final List<Point> POINTS = List.copyOf(EnumSet.allOf(Point.class));

    private final Random random;
    private final Scale scale;
    private final List<FaultSequence> sequences;

    private Schedule(long seed, Scale scale) {
        this.random = new Random(seed);
        this.scale = scale;
        List<Disturbance> even = new ArrayList<>();
        List<Disturbance> odd = new ArrayList<>();
        List<Disturbance> all = workers();
        for (int index = 0; index < all.size(); index++) {
            (index % 2 == 0 ? even : odd).add(all.get(index));
        }
        this.sequences = List.of(
                FaultSequence.draw("workers-1", even, scale.faults(), random),
                FaultSequence.draw("workers-2", odd, scale.faults(), random),
                FaultSequence.draw("servers", servers(), scale.faults(), random),
                FaultSequence.draw("wires", partitions(), scale.faults(), random));
    }

    public static Schedule draw(long seed, Scale scale) {
        return new Schedule(seed, scale);
    }

    List<FaultSequence> sequences() {
        return sequences;
    }

    private List<Disturbance> workers() {
        List<Disturbance> drawn = new ArrayList<>();
        int atPoints = scale.kills() / 2;
        for (int kill = 0; kill < atPoints; kill++) {
            drawn.add(new KillAtPoint(slot(drawn), POINTS.get(kill % POINTS.size())));
        }
        add(drawn, scale.kills() - atPoints, () -> new KillAnywhere(slot(drawn)));
        add(drawn, scale.freezes(), () -> new FreezeWorker(slot(drawn), between(4_500, 8_000)));
        add(drawn, scale.collections(), () -> new CollectGarbage(slot(drawn), between(4_500, 6_000)));
        add(drawn, scale.stops(), () -> new StopWorker(slot(drawn)));
        add(drawn, scale.clockSteps(), () -> new StepClock(slot(drawn), hour(), between(2_000, 5_000)));
        return drawn;
    }

    /** Returns a step of up to an hour, forward or backward. */
    private Duration hour() {
        return Duration.ofSeconds(random.nextInt(7_200) - 3_600L);
    }

    /**
     * Returns a slot for one of the two sequences that hit workers. One sequence uses even slots, and the other uses
     * odd slots.
     */
    private int slot(List<Disturbance> drawn) {
        int parity = drawn.size() % 2;
        int choices = (scale.workers() + 1 - parity) / 2;
        return parity + 2 * random.nextInt(choices);
    }

    private List<Disturbance> servers() {
        List<Disturbance> drawn = new ArrayList<>();
        add(drawn, scale.restarts(), () -> new RestartPrimary(between(300, 4_500)));
        add(drawn, scale.outages(), () -> new FreezeSqs(between(4_500, 7_000)));
        for (int failover = 0; failover < scale.failovers(); failover++) {
            drawn.add(new FailOver(failover % 2 == 1, between(100, 500)));
        }
        add(drawn, scale.lags(), () -> new DelayReplica(between(1_500, 3_000), between(4_000, 8_000)));
        for (int trouble = 0; trouble < scale.troubles(); trouble++) {
            drawn.add(new DisturbDynamoDb(TROUBLES.get(trouble % TROUBLES.size()), between(3_000, 8_000)));
        }
        add(drawn, scale.fills(), () -> new FillDisk(between(2_000, 6_000)));
        return drawn;
    }

    private List<Disturbance> partitions() {
        List<Disturbance> drawn = new ArrayList<>();
        for (int index = 0; index < scale.partitions(); index++) {
            Traffic.Kind way = WAYS.get(index % WAYS.size());
            Side side = SIDES.get(index % SIDES.size());
            Traffic traffic = way == Traffic.Kind.SLOW ? Traffic.slow(between(50, 400)) : Traffic.of(way);
            int slot = random.nextInt(4) == 0 ? Partition.ALL : random.nextInt(scale.workers());
            drawn.add(new Partition(slot, side, traffic, between(1_000, 7_000)));
        }
        return drawn;
    }

    private static void add(List<Disturbance> drawn, int times, Supplier<Disturbance> draw) {
        for (int time = 0; time < times; time++) {
            drawn.add(draw.get());
        }
    }

    private Duration between(int leastMillis, int mostMillis) {
        return Duration.ofMillis(leastMillis + random.nextInt(mostMillis - leastMillis));
    }

    @Override
    public String toString() {
        return sequences.stream().map(FaultSequence::toString).collect(Collectors.joining());
    }
}
