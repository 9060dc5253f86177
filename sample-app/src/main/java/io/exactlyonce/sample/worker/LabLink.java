package io.exactlyonce.sample.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Connects a worker with the lab that started it. Reports the web server's port on standard output. When standard input
 * ends, which also happens if the lab dies, shuts the worker down gracefully.
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
                // The input itself does not matter, only its end.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            System.exit(0);
        }
    }
}
