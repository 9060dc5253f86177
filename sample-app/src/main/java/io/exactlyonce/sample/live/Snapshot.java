package io.exactlyonce.sample.live;

import io.exactlyonce.sample.live.Journal.Happening;
import java.util.List;

/**
 * The lab at one moment, as the page shows it.
 *
 * @param second since the start
 * @param chapter how far the story is
 * @param flowsSince second of the first order, or 0 if there was none
 * @param windowSeconds the queues' window
 * @param isPartnerSlow whether the partner is slow, or becomes so
 * @param replicaDelaySeconds how far the replica is made to lag
 * @param happenings what happened last, the oldest first
 */
record Snapshot(
        double second,
        Chapter chapter,
        double flowsSince,
        long windowSeconds,
        boolean isPartnerSlow,
        long replicaDelaySeconds,
        SideView naive,
        SideView exactlyOnce,
        Engine engine,
        List<Happening> happenings) {}
