package io.exactlyonce.sample.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Ties a worker to the lab that started it: tells it the web server's port through standard output, and shuts the worker
 * down in good order when standard input ends, which it does too when the lab dies.
 */
@Component
@Profile("lab")
class LabLink implements ApplicationListener<ApplicationReadyEvent> {

    private final Environment environment;

    LabLink(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        Thread watch = new Thread(LabLink::exitAtEndOfInput, "lab-link");
        watch.setDaemon(true);
        watch.start();
        System.out.println("ready " + environment.getRequiredProperty("local.server.port"));
    }

    private static void exitAtEndOfInput() {
        try {
            while (System.in.read() >= 0) {
                // Only the end matters.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            System.exit(0);
        }
    }
}
