package io.exactlyonce.dynamodb.local;

import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * Starts DynamoDB Local in memory, on loopback. DynamoDB Local's own main class listens on all addresses of the
 * machine, and answers web pages of any site. This class also refuses requests that a browser sends for a page.
 */
public final class OnLoopback {

    private static final String LOOPBACK = "127.0.0.1";

    private OnLoopback() {}

    /**
     * Starts the server, and ends when the server ends.
     *
     * @param args the port
     */
    public static void main(String[] args) throws Exception {
        DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(new String[] {
            "-inMemory", "-sharedDb", "-disableTelemetry", "-cors", LOOPBACK, "-port", args[0]
        });
        Server server = serverOf(local);
        for (Connector connector : server.getConnectors()) {
            ((ServerConnector) connector).setHost(LOOPBACK);
        }
        server.setHandler(new NoPages(server.getHandler()));
        local.start();
        local.join();
    }

    /** Reads the server by reflection, because DynamoDB Local offers no other way. */
    private static Server serverOf(DynamoDBProxyServer local) throws ReflectiveOperationException {
        Field server = DynamoDBProxyServer.class.getDeclaredField("server");
        server.setAccessible(true);
        return (Server) server.get(local);
    }

    /**
     * Refuses requests of pages. A page of another site has an origin. A page whose name resolves to this machine (DNS
     * rebinding) has another host.
     */
    private static final class NoPages extends Handler.Wrapper {

        NoPages(Handler handler) {
            super(handler);
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            if (request.getHeaders().contains(HttpHeader.ORIGIN) || !LOOPBACK.equals(Request.getServerName(request))) {
                Response.writeError(request, response, callback, HttpStatus.FORBIDDEN_403);
                return true;
            }
            return super.handle(request, response, callback);
        }
    }
}
