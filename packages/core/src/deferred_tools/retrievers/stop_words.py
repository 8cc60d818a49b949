"""Words that hold a sentence together and say nothing of a tool, by language.

Each has those of English beside its own: identifiers are English whatever the descriptions are.
"""

ENGLISH = "english"

_ENGLISH = """
    a about all also am an and any are as at be because been being both but by can could did do
    does doing done each either else etc every few for from give had has have having he hello help
    her here hey hi him his how i if in into is it its itself just kindly let like ll looking lot
    m may me might more most much must my need needed needs neither no nor not now of on once one
    only or other our ours out own per please re really s same shall she should so some something
    such t tell than thank thanks that the their them then there these they this those through to
    too us use used uses using ve very via want wanted wants was we were what when where whether
    which while who whom whose why will with would you your yours
"""
_OTHERS = {
    "dutch": """
        aan als bij dat de den der deze die dit een en er het hij hoe ik in is je kan met mijn naar
        niet of om ons ook op over te tot uit van voor was wat we welke wie wil zijn zo
    """,
    "french": """
        à au aux avec ce ces cette d dans de des du elle en est et il ils j je l la le les leur lui
        m ma me mes moi mon n ne nous on ou où par pas plus pour qu que quel quelle qui s sa se ses
        son sont sur t ta te tes ton tous tout toute un une veux vos votre vous y
    """,
    "german": """
        aber alle allen als am an auch auf aus bei beim bin bis bitte brauche das dass dem den der
        des die dies diese diesem diesen dieser dieses du ein eine einem einen einer eines er es
        für haben hat ich ihr im in ist kann kannst können mein meine meinem meinen meiner mich mir
        mit möchte nach nicht noch nur oder ohne sich sie sind so über um und uns unser unsere vom
        von vor war was welche welcher wenn werden wie will wir wird wo zu zum zur zwischen
    """,
    "italian": """
        a ai al alla alle anche che chi ci come con da dal dalla dei del della delle di e è ed gli
        ho i il in io la le lo ma mi mia mio ne nei nel nella non o per più qual quale questa questo
        se si sono su sua sul sulla suo ti tra tu un una uno vi voglio
    """,
    "portuguese": """
        a à ao aos as às com como da das de do dos e é em entre essa esse esta este eu mais me meu
        minha na não nas no nos o os ou para pela pelo por qual quando que quero se sem seu sua são
        também te um uma você
    """,
    "russian": """
        а без бы в во все вы где да для до его ее если есть ещё же за и из или им их к как какая
        какой когда который кто ли между меня мне мой моя мы на над не нет но нужно о об он она они
        от по под при с со так также там то тот ты у уже хочу что чтобы эта эти это этот я
    """,
    "spanish": """
        a al como con cuál cuando de del desde donde e el ella en entre es esa ese esta este esto
        hay la las le les lo los más me mi mis no nos o para pero por qué que quién quiero se sin
        sobre son su sus también te tu un una uno unos y ya yo
    """,
}


def stop_words(language: str = ENGLISH) -> frozenset[str]:
    """The words that texts in `language` are not searched by."""
    return frozenset(_ENGLISH.split() + _OTHERS.get(language, "").split())
