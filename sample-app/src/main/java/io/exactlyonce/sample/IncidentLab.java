package io.exactlyonce.sample;

import io.exactlyonce.sample.http.PaymentsApplication;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Lab;
import io.exactlyonce.sample.lab.LabException;
import io.exactlyonce.sample.lab.LabSettings;
import io.exactlyonce.sample.lab.Verdict;
import io.exactlyonce.sample.provider.ProviderStub;
import io.exactlyonce.sample.worker.WorkerApplication;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;

/** Runs the incident lab, or one of its parts. */
public final class IncidentLab {

    private static final int FAILED = 1;
    private static final int MISUSED = 2;
    private static final Duration GRACE = Duration.ofSeconds(15);

    private IncidentLab() {}

    /**
     * Does what the arguments say.
     *
     * @param args see {@code --help}
     */
    public static void main(String[] args) throws IOException, InterruptedException, SQLException {
        run(parse(args));
    }

    private static Command parse(String... args) {
        try {
            return Command.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println(Command.USAGE);
            System.exit(MISUSED);
            throw e;
        }
    }

    private static void run(Command command) throws IOException, InterruptedException, SQLException {
        switch (command.action()) {
            case LAB -> System.exit(runLab(command.settings()));
            case WORKER -> WorkerApplication.main(command.arguments().toArray(String[]::new));
            case PAYMENTS -> PaymentsApplication.main(command.arguments().toArray(String[]::new));
            case PROVIDER -> runProvider(Integer.parseInt(command.arguments().get(0)));
            case HELP -> System.out.println(Command.USAGE);
        }
    }

    private static int runLab(LabSettings settings) throws IOException, InterruptedException, SQLException {
        // This process is no Spring application: its servers' warnings go to a file, not to the console.
        System.setProperty("logback.configurationFile", "logback-lab.xml");
        Watchdog.start(settings.deadline().plus(GRACE), FAILED);
        Console console = new Console(System.out, isTerminal());
        try {
            Verdict verdict = new Lab(settings, console, IncidentLab.class).run();
            verdict.objections().forEach(objection -> System.out.println("FAILED: " + objection));
            System.out.println(verdict.lastLine());
            return verdict.exitCode();
        } catch (LabException e) {
            System.out.println("FAILED: " + e.getMessage());
            return FAILED;
        }
    }

    private static boolean isTerminal() {
        // Without this, JDK 22 to 24 have a console where there is no terminal, too.
        System.setProperty("jdk.console", "java.base");
        return System.console() != null && !"dumb".equals(System.getenv("TERM"));
    }

    private static void runProvider(int port) throws IOException {
        ProviderStub provider = ProviderStub.start(port, orderId -> Duration.ZERO, (orderId, worker) -> {});
        System.out.println("Payment and mail services: " + provider.url());
    }
}
