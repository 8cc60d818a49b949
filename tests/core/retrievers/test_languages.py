"""A catalogue in any language is found in that language, with or without its own stemmer."""

from collections.abc import Iterable, Sequence

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.bm25 import BM25Retriever

# By language: what tools say of themselves, and what somebody asks who needs one.
SAID = {
    "japanese": {
        "指定した都市の天気予報を取得します。": "明日の東京の天気を知りたい",
        "カレンダーに新しい予定を追加します。": "来週の会議の予定を入れて",
        "請求書をPDFで作成して保存します。": "お客様への請求書を作りたい",
        "ファイルを検索して一覧を返します。": "昨日のファイルを探して",
        "文章を別の言語に翻訳します。": "この手紙を英語に翻訳して",
        "顧客にメールを送信します。": "ﾒｰﾙを送る",
    },
    "chinese": {
        "查询指定城市的天气预报。": "上海明天的天气怎么样",
        "向客户发送电子邮件。": "给老板发一封邮件",
        "在日历中创建新的日程。": "把会议加到日历里",
        "把文本翻译成另一种语言。": "帮我翻译这段话",
        "删除文件夹中的旧文件。": "清理旧文件",
        "为订单开具发票。": "我要一张发票",
    },
    "korean": {
        "지정한 도시의 날씨 예보를 조회합니다.": "내일 서울 날씨 알려줘",
        "고객에게 이메일을 보냅니다.": "팀장에게 이메일 보내기",
        "캘린더에 새 일정을 추가합니다.": "회의 일정 잡아줘",
        "폴더에서 오래된 파일을 삭제합니다.": "파일 삭제",
        "문장을 다른 언어로 번역합니다.": "이 편지를 영어로 번역해줘",
        "주문에 대한 청구서를 만듭니다.": "청구서 발행",
    },
    "german": {
        "Legt einen Kalendereintrag mit Ort und Uhrzeit an.": "Kalendereintrag für morgen",
        "Schickt eine Rechnung an den Kunden.": "Rechnung schicken",
        "Sucht die schnellste Verbindung zwischen zwei Bahnhöfen.": "schnellste Verbindung",
        "Löscht Dateien, die älter als ein Jahr sind.": "alte Dateien löschen",
        "Übersetzt einen Text in eine andere Sprache.": "Text in andere Sprache",
        "Zeigt das Wetter der nächsten Tage.": "Wetter in Bremen",
    },
    "russian": {
        "Отправляет письмо одному или нескольким получателям.": "ответить на письмо",
        "Показывает прогноз погоды на неделю.": "прогноз для Москвы",
        "Создаёт новую задачу в проекте.": "добавить задачу",
        "Удаляет файлы из папки.": "лишние файлы",
        "Переводит деньги между счетами.": "послать деньги другу",
        "Ищет билеты на поезд.": "билеты до Казани",
    },
    "french": {
        "Envoie un message à plusieurs destinataires.": "message aux collègues",
        "Crée une facture pour un client.": "facture client",
        "Cherche des vols entre deux villes.": "vols Paris Montréal",
        "Supprime les fichiers d'un dossier.": "vider un dossier",
        "Traduit un texte dans une autre langue.": "texte en langue anglaise",
        "Donne la météo des prochains jours.": "météo Lyon",
    },
}
# The same tools, asked for in other forms of their words.
INFLECTED = {
    "german": {
        "Legt einen Kalendereintrag mit Ort und Uhrzeit an.": "Kalendereinträge",
        "Schickt eine Rechnung an den Kunden.": "Rechnungen verschicken",
        "Sucht die schnellste Verbindung zwischen zwei Bahnhöfen.": "vom Bahnhof abfahren",
        "Löscht Dateien, die älter als ein Jahr sind.": "eine Datei entfernen",
        "Übersetzt einen Text in eine andere Sprache.": "mehrere Sprachen",
    },
    "russian": {
        "Отправляет письмо одному или нескольким получателям.": "список получателей",
        "Показывает прогноз погоды на неделю.": "какая завтра погода",
        "Создаёт новую задачу в проекте.": "мои задачи",
        "Удаляет файлы из папки.": "старая папка",
        "Переводит деньги между счетами.": "остаток денег",
    },
    "french": {
        "Envoie un message à plusieurs destinataires.": "envoyer au destinataire",
        "Crée une facture pour un client.": "mes clients",
        "Cherche des vols entre deux villes.": "un vol direct",
        "Supprime les fichiers d'un dossier.": "supprimer ce fichier",
        "Traduit un texte dans une autre langue.": "langues étrangères",
    },
}
EVERYTHING = [text for texts in SAID.values() for text in texts]


def found(retriever: BM25Retriever, texts: Sequence[str], queries: Iterable[str]) -> list[str]:
    """What the first tool found for each query says. The names of tools help nobody."""
    retriever.index(
        [
            ToolSpec(source="s", tool=f"t{number}", description=text, name=f"t{number}")
            for number, text in enumerate(texts)
        ]
    )
    return [texts[int(retriever.search(query, 1)[0].name[1:])] for query in queries]


@pytest.mark.parametrize("language", SAID)
def test_tools_are_found_first_in_their_language(language: str) -> None:
    said = SAID[language]
    assert found(BM25Retriever(), list(said), said.values()) == list(said)


@pytest.mark.parametrize("language", SAID)
def test_tools_are_found_first_among_those_in_other_languages(language: str) -> None:
    said = SAID[language]
    assert found(BM25Retriever(), EVERYTHING, said.values()) == list(said)


@pytest.mark.parametrize("language", INFLECTED)
def test_tools_are_found_by_other_forms_of_their_words_in_a_language_that_was_chosen(
    language: str,
) -> None:
    retriever = BM25Retriever(language=language)
    for queries in (SAID[language], INFLECTED[language]):
        assert found(retriever, list(SAID[language]), queries.values()) == list(queries)
