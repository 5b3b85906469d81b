//! Responses to commands, as an annotation lists them.

use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;

use super::Exec;

/// The response to a command.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Answer {
    /// The first words of the commands that this responds to; empty for all.
    command: Vec<String>,
    stdout: String,
    stderr: String,
    exit_code: i32,
}

/// Reads a list of responses in YAML or JSON.
pub(super) fn read(text: &str) -> Result<Vec<Answer>, serde_yaml::Error> {
    serde_yaml::from_str(text)
}

impl Answer {
    pub(super) fn is_for(&self, command: &[String]) -> bool {
        command.starts_with(&self.command)
    }

    /// Writes the response; a client that does not read it ends the session.
    pub(super) async fn give(self, mut exec: Exec) -> i32 {
        let _ = exec.stdout.write_all(self.stdout.as_bytes()).await;
        let _ = exec.stderr.write_all(self.stderr.as_bytes()).await;
        self.exit_code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_reply_whose_words_begin_the_command_is_used() {
        let answers = read(
            "[{command: [psql, -c], stdout: a}, {command: [psql], exitCode: 2}, {stderr: what?, exitCode: 127}]",
        )
        .unwrap();
        let code = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            answers.iter().find(|answer| answer.is_for(&command)).map(|answer| answer.exit_code)
        };
        assert_eq!(code(&["psql", "-c", "SELECT 1"]), Some(0));
        assert_eq!(code(&["psql"]), Some(2));
        assert_eq!((code(&["ls"]), code(&[])), (Some(127), Some(127)));
        assert!(read("[{exit: 1}]").is_err() && read("{").is_err());
    }
}
