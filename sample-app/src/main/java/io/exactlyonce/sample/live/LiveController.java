package io.exactlyonce.sample.live;

import static org.springframework.http.MediaType.APPLICATION_JSON_VALUE;
import static org.springframework.http.MediaType.TEXT_EVENT_STREAM_VALUE;

import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * The requests of the page. All bodies are JSON. Browsers do not let another site's page send JSON to this server,
 * because nothing here allows it.
 */
@RestController
class LiveController {

    private static final int LONGEST_WINDOW = 60;

    private final LiveLab lab;
    private final Watchers watchers;

    LiveController(LiveLab lab, Watchers watchers) {
        this.lab = lab;
        this.watchers = watchers;
    }

    record Switch(boolean on) {}

    record Window(int seconds) {}

    @GetMapping(path = "/events", produces = TEXT_EVENT_STREAM_VALUE)
    SseEmitter events() {
        return watchers.add();
    }

    @PostMapping(path = "/partner", consumes = APPLICATION_JSON_VALUE)
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void slowPartnerDown(@RequestBody Switch slow) {
        lab.setPartnerSlow(slow.on());
    }

    @PostMapping(path = "/replica", consumes = APPLICATION_JSON_VALUE)
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void lagReplica(@RequestBody Switch lagging) {
        lab.setReplicaLagging(lagging.on());
    }

    @PostMapping(path = "/kill", consumes = APPLICATION_JSON_VALUE)
    ResponseEntity<Void> killWorkers() {
        return ResponseEntity.status(lab.killWorkers() ? HttpStatus.NO_CONTENT : HttpStatus.CONFLICT)
                .build();
    }

    @PostMapping(path = "/payout", consumes = APPLICATION_JSON_VALUE)
    ResponseEntity<Void> killDuringPayout() throws InterruptedException {
        return ResponseEntity.status(lab.killDuringPayout() ? HttpStatus.NO_CONTENT : HttpStatus.CONFLICT)
                .build();
    }

    /** Redirects to the console of a running worker. */
    @GetMapping("/console")
    ResponseEntity<Void> console() throws InterruptedException {
        return lab.console()
                .map(console -> ResponseEntity.status(HttpStatus.FOUND)
                        .location(console)
                        .<Void>build())
                .orElseGet(() ->
                        ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).build());
    }

    @PostMapping(path = "/redeliver", consumes = APPLICATION_JSON_VALUE)
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void redeliver() {
        lab.redeliver();
    }

    @PostMapping(path = "/window", consumes = APPLICATION_JSON_VALUE)
    ResponseEntity<Void> changeWindow(@RequestBody Window window) {
        if (window.seconds() < 1 || window.seconds() > LONGEST_WINDOW) {
            return ResponseEntity.badRequest().build();
        }
        lab.setVisibilityTimeout(Duration.ofSeconds(window.seconds()));
        return ResponseEntity.noContent().build();
    }
}
