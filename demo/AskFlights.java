import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

/** Asks a question by JDBC and prints the rows: a name, a number of flights, a delay. */
public final class AskFlights {
    public static void main(String[] words) throws Exception {
        try (Connection connection = DriverManager.getConnection(words[0], "demo", "");
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(words[1])) {
            while (rows.next()) {
                System.out.println(rows.getString(1) + "\t" + rows.getLong(2) + "\t" + rows.getDouble(3));
            }
        }
    }
}
