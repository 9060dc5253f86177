package io.exactlyonce.sample.live;

import io.exactlyonce.sample.live.Journal.Happening;
import java.util.List;

/**
 * The lab at one moment, as the page shows it.
 *
 * @param second since the start
 * @param isRunning whether the workers take orders; they are still starting otherwise
 * @param sent how many different orders were sent
 * @param sentBeforeTrouble at how many of them the partner becomes slow by itself
 * @param windowSeconds the queues' window
 * @param isPartnerSlow whether the partner is slow, or becomes so
 * @param replicaDelaySeconds how far the replica is made to lag
 * @param happenings what happened last, the oldest first
 */
record Snapshot(
        double second,
        boolean isRunning,
        long sent,
        int sentBeforeTrouble,
        long windowSeconds,
        boolean isPartnerSlow,
        long replicaDelaySeconds,
        SideView naive,
        SideView exactlyOnce,
        Engine engine,
        List<Happening> happenings) {}
