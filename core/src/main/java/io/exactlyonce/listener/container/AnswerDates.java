package io.exactlyonce.listener.container;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpResponse;

/**
 * Reads the {@code Date} headers of SQS's answers. Parsing a date is slow, and all answers of one second have the same
 * date. So the last date is kept.
 */
final class AnswerDates {

    private volatile Answered last = new Answered("", null);

    private record Answered(String header, @Nullable Instant date) {}

    /**
     * Returns the time at which SQS sent an answer, by SQS's clock; {@code null} if the answer has no readable date.
     */
    @Nullable Instant of(@Nullable SdkHttpResponse answer) {
        String header =
                answer == null ? null : answer.firstMatchingHeader("Date").orElse(null);
        if (header == null) {
            return null;
        }
        Answered known = last;
        if (!known.header.equals(header)) {
            known = new Answered(header, parse(header));
            last = known;
        }
        return known.date;
    }

    private static @Nullable Instant parse(String date) {
        try {
            return Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(date));
        } catch (DateTimeException unknown) {
            return null;
        }
    }
}
