package io.exactlyonce.chaos.worker;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Effects;
import io.exactlyonce.FollowUp;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Partner;
import io.exactlyonce.chaos.history.RecorderClient;
import org.springframework.stereotype.Component;

/**
 * Sends follow-up messages. Their business key is the follow-up key, so that the checker detects a listener that claims
 * another key.
 */
@Component
class FollowUps {

    private final SqsTemplate sqs;
    private final RecorderClient recorder;

    FollowUps(SqsTemplate sqs, WorkerProperties properties) {
        this.sqs = sqs;
        this.recorder = new RecorderClient(properties.recorder(), properties.name());
    }

    /** Sends a follow-up message of a key. */
    void send(String key, FollowUp followUp) {
        recorder.record(Event.of(Kind.SENDING)
                .on(followUp.key())
                .with(Detail.EFFECTS, Effects.EXTERNAL)
                .with(Detail.POLICY, InDoubtPolicy.RERUN)
                .with(Detail.PARTNER, Partner.HONOURS_KEY)
                .with(Detail.FOLLOWS, key));
        sqs.send(to -> to.queue("shipments")
                .payload(new Job(followUp.key(), 0, Job.Kind.GOOD))
                .headers(followUp.headers()));
        recorder.record(Event.of(Kind.SENT).on(followUp.key()));
    }
}
