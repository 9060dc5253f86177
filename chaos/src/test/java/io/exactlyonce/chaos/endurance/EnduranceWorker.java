package io.exactlyonce.chaos.endurance;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A user's application. Its handler takes the time that its message names, and then acts once. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({EnduranceWorker.Handler.class, RecordingSqs.class})
class EnduranceWorker {

    /** The child's main method. */
    public static void main(String[] arguments) {
        SpringApplication.run(EnduranceWorker.class, arguments);
    }

    @Bean
    RecorderClient recorder(@Value("${endurance.recorder}") int port, @Value("${endurance.worker}") String worker) {
        return new RecorderClient(port, worker);
    }

    @Bean
    ApplicationRunner started(RecorderClient recorder) {
        return arguments -> recorder.record(Event.of(Kind.STARTED));
    }

    static class Handler {
        private final RecorderClient recorder;

        Handler(RecorderClient recorder) {
            this.recorder = recorder;
        }

        @ExactlyOnceListener(
                id = "endurance",
                queueNames = "${endurance.queue}",
                key = "#job.key",
                maxConcurrentMessages = "${endurance.concurrency}")
        void handle(Job job, Claim claim) throws InterruptedException {
            String call = UUID.randomUUID().toString();
            recorder.record(event(Kind.ENTERED, job, call)
                    .with(Detail.TOKEN, claim.fencingToken())
                    .with(Detail.ATTEMPT, claim.attempt())
                    .with(Detail.IN_DOUBT, claim.isInDoubt()));
            try {
                Thread.sleep(job.millis());
                recorder.record(event(Kind.CHECKING, job, call));
                claim.ensureHeld();
                recorder.record(event(Kind.CHECKED, job, call));
                recorder.record(event(Kind.EFFECT, job, call));
                recorder.record(event(Kind.HANDLED, job, call));
            } catch (InterruptedException | RuntimeException failure) {
                recorder.record(event(Kind.FAILED, job, call).with(Detail.REASON, failure));
                throw failure;
            }
        }

        private static Event event(Kind kind, Job job, String call) {
            return Event.of(kind).on(job.key()).in(call);
        }
    }
}
