package io.exactlyonce.sample.live;

import java.util.Arrays;

/**
 * The chapters of the lab's story, which takes half a minute. Each side gets four orders a second, and each chapter
 * begins with a certain order.
 */
enum Chapter {

    /** The workers are not ready yet. */
    STARTING(0),

    /** The workers are ready, and the partner answers in time. */
    CALM(0),

    /** The partner becomes slower and slower. */
    SLOW(7),

    /** A worker of each side was killed. */
    KILLED(45),

    /** All orders were sent once more. */
    REDELIVERED(69),

    /** The partner is quick again. */
    QUICK(85),

    /** Everything was shown. From now on, only the buttons cause events. */
    OVER(109);

    private final int firstOrder;

    Chapter(int firstOrder) {
        this.firstOrder = firstOrder;
    }

    /** Returns the chapter to which an order belongs. */
    static Chapter of(long order) {
        return Arrays.stream(values())
                .filter(chapter -> chapter.firstOrder <= order)
                .reduce(STARTING, (earlier, later) -> later);
    }
}
