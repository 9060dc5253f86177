package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ChapterTests {

    @Test
    void storyIsPlayedInItsOrderByAsManyOrdersAsFlowInHalfAMinute() {
        assertThat(LongStream.rangeClosed(1, 120).mapToObj(Chapter::of).distinct())
                .containsExactly(
                        Chapter.CALM, Chapter.SLOW, Chapter.KILLED, Chapter.REDELIVERED, Chapter.QUICK, Chapter.OVER);
    }

    @Test
    void chapterBeginsWithItsOrder() {
        assertThat(Chapter.of(6)).isEqualTo(Chapter.CALM);
        assertThat(Chapter.of(7)).isEqualTo(Chapter.SLOW);
        assertThat(Chapter.of(1_000_000)).isEqualTo(Chapter.OVER);
    }
}
