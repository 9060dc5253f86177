package io.exactlyonce.sample;

import io.exactlyonce.sample.lab.LabSettings;
import io.exactlyonce.sample.lab.Store;
import io.exactlyonce.sample.live.LiveSettings;
import java.util.List;

/**
 * The command line.
 *
 * @param action the action to run
 * @param settings the size of the experiment
 * @param arguments the action's own arguments
 */
record Command(Action action, LabSettings settings, List<String> arguments) {

    static final String USAGE = """
            Usage: java -jar incident-lab.jar [--orders=N]   replay the incident, and exit with 0 if we survive it
                     [--store=postgresql|dynamodb]           where claims are kept; dynamodb needs DynamoDB Local
                   java -jar incident-lab.jar --serve[=PORT] the lab with its web page, on loopback, until it is stopped
                   java -jar incident-lab.jar worker ...     only a worker; arguments as for any Spring Boot application
                   java -jar incident-lab.jar payments ...   an HTTP API with an Idempotency-Key; arguments likewise
                   java -jar incident-lab.jar provider PORT  only the payment and mail services that a worker calls""";

    private static final int MAX_PORT = 65_535;
    private static final String ORDERS = "--orders=";
    private static final String STORE = "--store=";
    private static final String SERVE = "--serve";

    enum Action {
        LAB,
        SERVE,
        WORKER,
        PAYMENTS,
        PROVIDER,
        HELP
    }

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException if they name no existing action
     */
    static Command parse(String... args) {
        List<String> all = List.of(args);
        String first = all.isEmpty() ? "" : all.get(0);
        return switch (first) {
            case "worker" -> new Command(Action.WORKER, LabSettings.standard(), rest(all));
            case "payments" -> new Command(Action.PAYMENTS, LabSettings.standard(), rest(all));
            case "provider" ->
                new Command(Action.PROVIDER, LabSettings.standard(), List.of(port("provider", rest(all))));
            case "--help", "-h" -> new Command(Action.HELP, LabSettings.standard(), List.of());
            default ->
                all.stream().anyMatch(Command::isServe)
                        ? new Command(Action.SERVE, LabSettings.standard(), List.of(servedPort(all)))
                        : new Command(Action.LAB, settings(all), List.of());
        };
    }

    private static boolean isServe(String arg) {
        return arg.equals(SERVE) || arg.startsWith(SERVE + "=");
    }

    private static String servedPort(List<String> args) {
        if (args.size() != 1) {
            throw new IllegalArgumentException(
                    "--serve (%s) takes no other arguments".formatted(String.join(" ", args)));
        }
        String arg = args.get(0);
        return arg.equals(SERVE)
                ? Integer.toString(LiveSettings.standard().port())
                : port(SERVE, List.of(arg.substring(SERVE.length() + 1)));
    }

    private static String port(String action, List<String> args) {
        if (args.size() != 1 || !args.get(0).matches("\\d{1,5}") || Integer.parseInt(args.get(0)) > MAX_PORT) {
            throw new IllegalArgumentException("%s (%s) takes one argument, a port from 0 to %d"
                    .formatted(action, String.join(" ", args), MAX_PORT));
        }
        return args.get(0);
    }

    private static LabSettings settings(List<String> args) {
        LabSettings settings = LabSettings.standard();
        for (String arg : args) {
            settings = arg.startsWith(STORE)
                    ? settings.withStore(Store.named(arg.substring(STORE.length())))
                    : settings.withOrders(orders(arg));
        }
        return settings;
    }

    private static int orders(String arg) {
        if (!arg.startsWith(ORDERS)) {
            throw new IllegalArgumentException("Unknown argument: " + arg);
        }
        String value = arg.substring(ORDERS.length());
        if (!value.matches("\\d{1,9}")) {
            throw new IllegalArgumentException("--orders (%s) must be a whole number".formatted(value));
        }
        return Integer.parseInt(value);
    }

    private static List<String> rest(List<String> args) {
        return args.subList(1, args.size());
    }
}
