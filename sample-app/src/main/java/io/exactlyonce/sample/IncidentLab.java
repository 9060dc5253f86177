package io.exactlyonce.sample;

import io.exactlyonce.sample.http.PaymentsApplication;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Lab;
import io.exactlyonce.sample.lab.LabException;
import io.exactlyonce.sample.lab.LabSettings;
import io.exactlyonce.sample.lab.Verdict;
import io.exactlyonce.sample.lab.Workspace;
import io.exactlyonce.sample.live.LiveLab;
import io.exactlyonce.sample.live.LiveSettings;
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
     * Runs the action that the arguments name.
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
            case SERVE -> serve(Integer.parseInt(command.arguments().get(0)));
            case WORKER -> WorkerApplication.main(command.arguments().toArray(String[]::new));
            case PAYMENTS -> PaymentsApplication.main(command.arguments().toArray(String[]::new));
            case PROVIDER -> runProvider(Integer.parseInt(command.arguments().get(0)));
            case HELP -> System.out.println(Command.USAGE);
        }
    }

    private static int runLab(LabSettings settings) throws IOException, InterruptedException, SQLException {
        logToFile();
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

    private static void serve(int port) throws IOException, InterruptedException, SQLException {
        logToFile();
        // The workspace is first, because it sets where this process logs.
        Workspace workspace = Workspace.create();
        // The page's server configures logging again.
        System.setProperty("logging.config", "classpath:logback-lab.xml");
        try {
            LiveSettings settings = LiveSettings.standard().withPort(port);
            LiveLab.start(settings, workspace, new Console(System.out, false), IncidentLab.class);
        } catch (LabException e) {
            System.out.println("FAILED: " + e.getMessage());
            System.exit(FAILED);
        }
        Thread.currentThread().join();
    }

    /** Sends warnings of this process's servers to a file instead of the console. */
    private static void logToFile() {
        System.setProperty("logback.configurationFile", "logback-lab.xml");
    }

    @SuppressWarnings("SystemConsoleNull")
    private static boolean isTerminal() {
        // Without this setting, JDK 22 to 24 have a console even without a terminal.
        System.setProperty("jdk.console", "java.base");
        return System.console() != null && !"dumb".equals(System.getenv("TERM"));
    }

    private static void runProvider(int port) throws IOException {
        ProviderStub provider = ProviderStub.start(port, orderId -> Duration.ZERO, (orderId, worker) -> {});
        System.out.println("Payment and mail services: " + provider.url());
    }
}
