import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Times what programs do with a JDBC driver, at several servers in turn. One line for each server: a median in seconds,
 * or statements a second.
 *
 * <pre>
 * Driver times WARM_UP RUNS SQL URL...     a statement and all its rows, on one connection
 * Driver clients THREADS SECONDS SQL URL...
 * </pre>
 */
public final class Driver {
    /** What is behind a statement while Java warms up, so that this does not take long. */
    private static final String WARM_UP = " LIMIT 20000";

    public static void main(String[] words) throws Exception {
        Class.forName("org.apache.hive.jdbc.HiveDriver");
        int first = Integer.parseInt(words[1]);
        int second = Integer.parseInt(words[2]);
        String sql = words[3];
        String[] urls = Arrays.copyOfRange(words, 4, words.length);
        if (words[0].equals("clients")) {
            for (String url : urls) {
                clients(first, 2, sql, url);
                System.out.println(clients(first, second, sql, url));
            }
            return;
        }
        for (double median : times(first, second, sql, urls)) {
            System.out.println(median);
        }
    }

    private static double[] times(int warmUp, int runs, String sql, String[] urls) throws SQLException {
        Connection[] connections = new Connection[urls.length];
        for (int at = 0; at < urls.length; at++) {
            connections[at] = DriverManager.getConnection(urls[at], "ann", "");
        }
        double[][] seconds = new double[urls.length][runs];
        for (int run = -warmUp; run < runs; run++) {
            for (int at = 0; at < urls.length; at++) {
                long began = System.nanoTime();
                readAll(connections[at], run < 0 ? sql + WARM_UP : sql);
                if (run >= 0) {
                    seconds[at][run] = (System.nanoTime() - began) / 1e9;
                }
            }
        }
        double[] medians = new double[urls.length];
        for (int at = 0; at < urls.length; at++) {
            Arrays.sort(seconds[at]);
            medians[at] = (seconds[at][(runs - 1) / 2] + seconds[at][runs / 2]) / 2;
            connections[at].close();
        }
        return medians;
    }

    private static double clients(int threads, int seconds, String sql, String url) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Connection> connections = new ArrayList<>();
        for (int at = 0; at < threads; at++) {
            connections.add(DriverManager.getConnection(url, "ann" + at, ""));
        }
        long began = System.nanoTime();
        long end = began + seconds * 1_000_000_000L;
        List<Future<Integer>> asked = new ArrayList<>();
        for (Connection connection : connections) {
            asked.add(pool.submit(() -> {
                int number = 0;
                while (System.nanoTime() < end) {
                    readAll(connection, sql);
                    number++;
                }
                return number;
            }));
        }
        int statements = 0;
        for (Future<Integer> one : asked) {
            statements += one.get();
        }
        double took = (System.nanoTime() - began) / 1e9;
        pool.shutdown();
        for (Connection connection : connections) {
            connection.close();
        }
        return statements / took;
    }

    /** Read each column by the getter of its type, as programs do. */
    private static void readAll(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            int columns = rows.getMetaData().getColumnCount();
            while (rows.next()) {
                rows.getLong(1);
                if (columns > 1) {
                    rows.getString(2);
                    rows.getDouble(3);
                    rows.getTimestamp(4);
                }
            }
        }
    }
}
